// Two types of one name in one namespace are one for the linker, which takes the functions of
// either: a program then reads what is there as what it is not.
#include <regex>

#include "layering.hpp"

namespace headway::testing {

Breaches type_breaches(const SourceTree& tree) {
  // At the beginning of a line: neither nested nor of a parameter.
  const std::regex space("(?:^|\n)namespace ([\\w:]+) \\{");
  const std::regex type("(?:^|\n)(?:struct|class|enum class) ([\\w:]+)[^;{(]*\\{");
  Breaches out;
  std::map<std::string, std::string> where;  // by full name
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(".hpp") || is_of_tests(path)) continue;
    const std::string code = without_comments(text);
    std::smatch name;
    if (!std::regex_search(code, name, space)) continue;
    for (std::sregex_iterator i(code.begin(), code.end(), type), end; i != end; ++i) {
      const std::string full = name[1].str() + "::" + (*i)[1].str();
      const auto [known, is_new] = where.try_emplace(full, path);
      if (is_new || known->second == path) continue;
      out.push_back(path + " has " + full + ", and so has " + known->second);
    }
  }
  return out;
}

}  // namespace headway::testing
