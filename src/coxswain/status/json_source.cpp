// The source of Boost.JSON, so that no compiled library is needed.

#include <boost/json/src.hpp>
