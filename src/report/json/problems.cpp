#include "report/problems.hpp"

#include "base/text.hpp"
#include "report/json/document.hpp"

namespace headway {

std::string problems_json(const Problems& problems) {
  Json list = Json::array();
  for (const Problem& problem : first_problems(problems)) {
    Json one = {{"where", printable(where_text(problem), 300)},
                {"message", printable(problem.message, 2000)}};
    if (!problem.near.empty()) one["near"] = problem.near;
    list.push_back(std::move(one));
  }
  return document_text({{"problems", std::move(list)}});
}

}  // namespace headway
