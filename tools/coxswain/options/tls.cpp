#include "options/tls.hpp"

#include "options/option_rows.hpp"

#include "coxswain/client/option_rows.hpp"

#include <boost/algorithm/string/case_conv.hpp>

namespace coxswain::tools {

void add_tls_options(CLI::App& to, tls_options& into) { add_rows(to, client_tls_rows, into); }

std::vector<std::pair<std::string, std::string>> tls_variables(tls_options const& of) {
  std::vector<std::pair<std::string, std::string>> all;
  auto const add_variable = [&](auto const& row) {
    all.emplace_back(boost::algorithm::to_upper_copy("COXSWAIN_" + std::string{row.name}),
                     of.*row.member);
  };
  std::apply([&](auto const&... row) { (add_variable(row), ...); }, client_tls_rows);
  return all;
}

}  // namespace coxswain::tools
