# Makes one HTML text of the page's parts, with the Content-Security-Policy that allows just these,
# and a C++ source of both. Run as a script:
#   cmake -D site=DIRECTORY -D scripts=A.js,B.js -D output=DIRECTORY -P embed.cmake
# It writes page.html, page.policy and site.cpp.
cmake_minimum_required(VERSION 3.25)

set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)

# The SHA-256 of a text in base64: three hexadecimal digits are two digits there.
function(base64_sha256 text result)
  string(SHA256 hex "${text}")
  set(encoded "")
  foreach(at RANGE 0 60 3)
    string(SUBSTRING "${hex}" ${at} 3 digits)
    math(EXPR high "0x${digits} >> 6")
    math(EXPR low "0x${digits} & 63")
    string(SUBSTRING "${alphabet}" ${high} 1 first)
    string(SUBSTRING "${alphabet}" ${low} 1 second)
    string(APPEND encoded "${first}${second}")
  endforeach()
  string(SUBSTRING "${hex}" 63 1 digit)
  math(EXPR rest "0x${digit} << 2")
  string(SUBSTRING "${alphabet}" ${rest} 1 last)
  set(${result} "${encoded}${last}=" PARENT_SCOPE)
endfunction()

# What an element of the page must not contain, since it would end it.
function(refuse text what pattern)
  string(FIND "${text}" "${pattern}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "the page's ${what} contains '${pattern}'")
  endif()
endfunction()

file(READ ${site}/index.html page)
file(READ ${site}/style.css style)
set(script "'use strict';\n")
string(REPLACE "," ";" scripts "${scripts}")
foreach(file IN LISTS scripts)
  file(READ ${site}/${file} text)
  string(APPEND script "\n${text}")
endforeach()
refuse("${style}" style "</style")
refuse("${script}" script "</script")
refuse("${script}" script "<!--")

base64_sha256("${style}" style_hash)
base64_sha256("${script}" script_hash)
string(CONCAT policy
  "default-src 'none'; script-src 'sha256-${script_hash}'; style-src 'sha256-${style_hash}'; "
  "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
  "frame-ancestors 'none'")

string(REPLACE "@style@" "${style}" page "${page}")
string(REPLACE "@script@" "${script}" page "${page}")
refuse("${page}" text ")site\"")

file(WRITE ${output}/page.html "${page}")
file(WRITE ${output}/page.policy "${policy}")
file(CONFIGURE OUTPUT ${output}/site.cpp @ONLY CONTENT [[
#include "coxswain/status/site.hpp"

namespace coxswain::status_page {

std::string_view site() noexcept {
  static constexpr std::string_view text{R"site(@page@)site"};
  return text;
}

std::string_view site_policy() noexcept { return "@policy@"; }

}  // namespace coxswain::status_page
]])
