// A public name that is ambiguous with <error.h> or std under both using-directives. Not part of
// client_test: a test checks that this does not compile.

#include "coxswain/base/error.hpp"

#include <error.h>

#include <system_error>

using namespace std;
using namespace coxswain;

using clashing = COXSWAIN_CLASHING_NAME;
