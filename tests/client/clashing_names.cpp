// A name of ours that clashes with one of <error.h> or std where both are used by directives. Not
// in client_test: tests look for the compiler to refuse it.

#include "coxswain/base/error.hpp"

#include <error.h>

#include <system_error>

using namespace std;
using namespace coxswain;

using clashing = COXSWAIN_CLASHING_NAME;
