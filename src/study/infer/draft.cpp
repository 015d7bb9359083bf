// What guesses the next tokens of a serving.
#include "study/infer/serving.hpp"

namespace headway {

// A prediction layer is one of the last kind; it is asked again for each further token.
Serving draft_of(const Serving& serving) {
  Serving out = serving;
  out.speculation.reset();
  out.pp = 1;
  // The host's part is of the model's own pass, of a prompt or one that checks.
  out.engine.step = out.engine.sequence = out.engine.prompt = out.engine.token = Seconds(0);
  if (serving.speculation->draft) {
    out.model = *serving.speculation->draft;
    if (!has_experts(out.model)) {
      out.ep = 1;
      out.own_exchange = out.two_batches = false;
    }
    out.routing = {};  // what is known is of the model's own
    return out;
  }
  out.model.name += " prediction layer";
  out.model.pattern = {serving.model.pattern.back()};
  out.predicts = true;
  return out;
}

}  // namespace headway
