#include "fit/kernels/data.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/document/csv.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "cluster/load.hpp"

namespace headway {
namespace {

// The kernel that the libraries of rows (2023 and later) run that do not say which; the constants
// of flash2 and flash3 are fitted as one.
constexpr AttentionKernel kMeasuredAttention = AttentionKernel::flash2;

// Typed access to the cells of one row; what is wrong is gathered.
class Cells {
 public:
  Cells(const Csv& csv, const CsvRow& row, Problems& problems)
      : csv_(csv), row_(row), problems_(problems) {}

  const std::string& text(std::string_view column) const {
    return row_.cells[*csv_.column(column)];
  }
  // Empty where there is no such column.
  std::string_view text_if_any(std::string_view column) const {
    const auto at = csv_.column(column);
    return at ? std::string_view(row_.cells[*at]) : std::string_view();
  }
  std::int64_t count(std::string_view column) const {
    const std::string& cell = text(column);
    const auto value = whole_number(cell);
    if (!value || *value < 1 || *value > 1'000'000'000) {
      fail(column, "must be a count between 1 and 10^9, not '" + printable(cell) + "'");
      return 1;
    }
    return *value;
  }
  double positive(std::string_view column) const {
    const std::string& cell = text(column);
    const auto value = real_number(cell);
    if (!value || !(*value > 0) || *value > 1e15) {
      fail(column, "must be a number greater than zero, not '" + printable(cell) + "'");
      return 1;
    }
    return *value;
  }
  void fail(std::string_view column, std::string message) const {
    problems_.push_back({{csv_.file, row_.line}, std::string(column) + " " + std::move(message)});
  }

 private:
  const Csv& csv_;
  const CsvRow& row_;
  Problems& problems_;
};

// By the word of the column `kernel`: products tell their format elsewhere.
std::optional<KernelClass> class_from(std::string_view name) {
  for (std::size_t i = 0; i < kKernelClasses; ++i) {
    const auto kernel = static_cast<KernelClass>(i);
    if (is_matmul(kernel) && kernel != KernelClass::matmul) continue;
    if (kKernelClassNames[i] == name) return kernel;
  }
  return std::nullopt;
}

// "blocks": a factor for each block of the operands; "whole" or nothing: not so.
Scaling scaling_of(const Cells& cells) {
  const std::string& said = cells.text("scaling");
  if (said == "blocks") return Scaling::blocks;
  if (!said.empty() && said != "whole") {
    cells.fail("scaling", "must be 'whole' or 'blocks' or empty, not '" + printable(said) + "'");
  }
  return Scaling::whole;
}

// cuDNN's on Hopper is built as the third algorithm is: loads, products and softmax by warps of
// their own (NVIDIA, cuDNN 9 release notes).
std::optional<AttentionKernel> algorithm_of(std::string_view operation) {
  if (operation == "flash2") return AttentionKernel::flash2;
  if (operation == "cudnn") return AttentionKernel::flash3;
  return std::nullopt;
}

// The index of the accelerator in data.accelerators; loads it when it is new.
std::size_t accelerator_of(const Cells& cells, KernelData& data) {
  const std::string& name = cells.text("accelerator");
  for (std::size_t i = 0; i < data.accelerators.size(); ++i) {
    if (data.accelerators[i].name == name) return i;
  }
  auto loaded = load_accelerator(name);
  if (loaded) {
    data.accelerators.push_back(*loaded);
    return data.accelerators.size() - 1;
  }
  cells.fail("accelerator", loaded.problems()[0].message);
  return 0;
}

KernelMeasurement measurement_from(const Cells& cells, KernelData& data) {
  KernelMeasurement row;
  // "github:owner/name@commit:path" -> "owner/name"
  const std::string& source = cells.text("source");
  const std::size_t begin = source.starts_with("github:") ? 7 : 0;
  row.source = source.substr(begin, source.find('@') - begin);
  row.fitted = cells.text("use") == "fit";
  row.accelerator = accelerator_of(cells, data);
  const auto precision = precision_from(cells.text("precision"));
  if (!precision) cells.fail("precision", "is not known");
  row.precision = precision.value_or(Precision::bf16);
  const auto kernel = class_from(cells.text("kernel"));
  if (!kernel) cells.fail("kernel", "is not known");
  row.kernel = kernel.value_or(KernelClass::matmul);
  row.time = Seconds(cells.positive("time_us") * 1e-6);
  if (is_matmul(row.kernel) || row.kernel == KernelClass::grouped_matmul) {
    row.product = {cells.count("m"), cells.count("n"), cells.count("k"), cells.count("batch")};
    row.result_bytes = cells.positive("result_bytes");
    row.scaling = scaling_of(cells);
    if (!cells.text("quantised_bytes").empty()) {
      row.quantised_bytes = cells.positive("quantised_bytes");
    }
    const ProductFormat format = format_of(row.precision, row.scaling);
    if (row.kernel == KernelClass::matmul) {
      row.kernel = static_cast<KernelClass>(format);
    } else if (format != ProductFormat::bits_16) {
      cells.fail("precision", "of grouped products must be of 16 bits");
    }
  } else {
    AttentionShape& shape = row.attention;
    shape.batch = cells.count("batch");
    shape.heads = cells.count("heads");
    shape.kv_heads = cells.count("kv_heads");
    shape.queries = shape.keys = cells.count("m");
    shape.head_dim = cells.count("head_dim");
    shape.value_dim = cells.count("value_dim");
    shape.causal = cells.text_if_any("layout") != "full";
    row.algorithm = algorithm_of(cells.text_if_any("operation"));
  }
  return row;
}

void skip(const std::string& reason, KernelData& data) {
  for (SkippedKernels& skipped : data.skipped) {
    if (skipped.reason == reason) return static_cast<void>(++skipped.rows);
  }
  data.skipped.push_back({1, reason});
}

}  // namespace

Result<KernelData> parse_kernel_data(std::string_view text, std::string file) {
  const auto csv = parse_csv(text, std::move(file));
  if (!csv) return csv.problems();
  Problems problems =
      missing_columns(*csv, {"use", "accelerator", "precision", "kernel", "batch", "m", "n", "k",
                             "heads", "kv_heads", "head_dim", "value_dim", "result_bytes",
                             "scaling", "quantised_bytes", "time_us", "source"});
  if (!problems.empty()) return problems;
  KernelData data;
  for (const CsvRow& row : csv->rows) {
    const Cells cells(*csv, row, problems);
    const std::string& use = cells.text("use");
    if (use.starts_with("no: ")) {
      skip(use.substr(4), data);
    } else if (use == "fit" || use.starts_with("check: ")) {
      data.rows.push_back(measurement_from(cells, data));
    } else {
      cells.fail("use",
                 "must be 'fit', 'check: reason' or 'no: reason', not '" + printable(use) + "'");
    }
    if (problems.size() > 20) break;
  }
  if (!problems.empty()) return problems;
  return data;
}

Seconds predicted_time(const KernelMeasurement& row, const Accelerator& accelerator,
                       const KernelParameters& parameters) {
  if (is_matmul(row.kernel) || row.kernel == KernelClass::grouped_matmul) {
    const double operand = static_cast<double>(row.product.m) * static_cast<double>(row.product.k);
    return matmul_time(row.product, row.precision, accelerator, parameters, row.result_bytes,
                       row.scaling) +
           quantisation_time(operand, row.quantised_bytes, format_of(row.precision, row.scaling),
                             accelerator, parameters);
  }
  const AttentionKernel kernel = row.algorithm.value_or(kMeasuredAttention);
  const auto time = row.kernel == KernelClass::attention_forward ? attention_forward_time
                                                                 : attention_backward_time;
  return time(row.attention, kernel, row.precision, accelerator, parameters);
}

}  // namespace headway
