#include "step/forward/share.hpp"

namespace headway {

Around around(const Job& job, const Layout& layout) {
  const bool classes = std::any_of(layout.classes.begin(), layout.classes.end(),
                                   [](Strategy each) { return each != Strategy::usual; });
  return {layout.pp == 1, shards_weights(job, layout), vocabulary_parts(layout),
          classes ? layout.dp : 1};
}

Share::Share(const Model& m, const Job& j, const LayerSplit& s, Around a)
    : model(m),
      job(j),
      split(s),
      around(a),
      habit(habits(j)),
      tokens(s.micro_batch * j.sequence / s.cp),
      rows(static_cast<double>(tokens)),
      norm_rows(rows / static_cast<double>(s.sequence_parallel ? s.tp : 1)),
      input_rows(s.keep_gathered ? rows : norm_rows),
      hidden(static_cast<double>(m.hidden)),
      element(Bytes(bytes_per_element(j.recipe->activation))),
      residual(autocast(j) ? Bytes(4) : element),
      saved_input(Bytes(j.recipe->saved_input_bytes)),
      dropout(j.dropout >= 0 ? j.dropout : m.dropout),
      sequence_parallel(s.sequence_parallel && s.tp > 1),
      trains_weights(j.task != Task::lora),
      activation(j.recipe->activation) {}

}  // namespace headway
