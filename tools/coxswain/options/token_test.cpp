#include "options/token.hpp"

#include "options/exit_code.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::tools {
namespace {

// "reader=a worker=b"
std::string read(std::string_view content) {
  std::string all;
  for (auto const& one : credentials_in(content, "tokens")) {
    all += (all.empty() ? "" : " ") + std::string{name(one.as)} + '=' + one.token;
  }
  return all;
}

std::string refusal(std::string_view content) {
  try {
    return read(content);
  } catch (program_error const& problem) {
    return problem.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(token)

BOOST_AUTO_TEST_CASE(a_token_alone_is_a_workers) {
  BOOST_TEST(read("sesame") == "worker=sesame");
  BOOST_TEST(read(" \n  sesame \r\n\n") == "worker=sesame");
}

BOOST_AUTO_TEST_CASE(lines_hold_a_role_and_a_token) {
  BOOST_TEST(read("# of the job\n\nreader  a\noperator\tb\r\nworker c\nworker d\ne") ==
             "reader=a operator=b worker=c worker=d worker=e");
}

BOOST_AUTO_TEST_CASE(a_wrong_line_is_named) {
  BOOST_TEST(
      refusal("reader a\n\ncaptain b\n") ==
      "--token-file: 'tokens' line 3: the first word must be a role (reader, operator, worker or "
      "relay)");
  BOOST_TEST(refusal("reader") ==
             "--token-file: 'tokens' line 1: the token after the role is missing");
  BOOST_TEST(refusal("reader a\nworker a") ==
             "--token-file: 'tokens' line 2: line 1 gives this token a role");
}

BOOST_AUTO_TEST_CASE(a_comment_needs_a_line_of_its_own) {
  BOOST_TEST(refusal("reader a\nworker abc # night") ==
             "--token-file: 'tokens' line 2: a comment needs a line of its own");
  BOOST_TEST(refusal("abc # night") ==
             "--token-file: 'tokens' line 1: a comment needs a line of its own");
  BOOST_TEST(refusal("worker # night") ==
             "--token-file: 'tokens' line 1: a comment needs a line of its own");
  BOOST_TEST(refusal("worker abc\t#night") ==
             "--token-file: 'tokens' line 1: a comment needs a line of its own");
  BOOST_TEST(read("worker abc#night") == "worker=abc#night");
}

BOOST_AUTO_TEST_CASE(no_word_of_a_wrong_line_is_shown_since_it_may_be_a_token) {
  auto const text = refusal("sesame worker");

  BOOST_TEST(text.find("sesame") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_file_without_tokens_is_refused) {
  BOOST_TEST(refusal(" \n") == "--token-file: 'tokens' contains no token");
  BOOST_TEST(refusal("# none\n") == "--token-file: 'tokens' contains no token");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::tools
