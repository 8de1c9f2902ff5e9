#define BOOST_TEST_MODULE coxswain
#include <boost/test/unit_test.hpp>
