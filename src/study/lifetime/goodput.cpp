#include "study/lifetime/goodput.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// A segment that is this many mean times between failures long is passed once in e^40 tries.
constexpr double kHopeless = 40;

// ∫₀^y tᵏ e⁻ᵗ dt for k ≤ 2. By its series where the closed form would cancel.
double lower_gamma(int k, double y) {
  if (y < 1) {
    double sum = 0, term = std::pow(y, k + 1);
    for (int n = 0; n < 25; ++n) {
      sum += term / (k + 1 + n);
      term *= -y / (n + 1);
    }
    return sum;
  }
  const double e = std::exp(-y);
  return k == 0 ? 1 - e : k == 1 ? 1 - e * (1 + y) : 2 - e * (2 + 2 * y + y * y);
}

// λ² times the variance of the time until a gap of length x = y/λ in a Poisson process has passed:
// e^{2y} - 1 - 2 y e^y = Σ (2ⁿ/n! - 2/(n-1)!) yⁿ, from n = 3 on.
double gap_variance(double y) {
  if (y > 1) return std::expm1(2 * y) - 2 * y * std::exp(y);
  double sum = 0, power = y * y, factorial = 2;  // of n - 1
  for (int n = 3; n < 40; ++n) {
    power *= y;
    const double next = factorial * n;
    sum += (std::pow(2.0, n) / next - 2 / factorial) * power;
    factorial = next;
  }
  return sum;
}

// What is paid after each failure: the restart, and the work since the checkpoint before, where the
// latest was not safe yet. A failure falls into the write of a checkpoint with the probability
// hidden / segment, and then a whole segment more is lost: `hidden` in the mean.
Seconds recovery_of(const Reliability& r) {
  return r.restart + r.hidden_write;
}

}  // namespace

// [SCALE-1] M = M₁ / n.
Seconds mean_time_between(Seconds of_one, std::int64_t accelerators) {
  return of_one / static_cast<double>(accelerators);
}

bool is_hopeless(const Reliability& r, Seconds interval) {
  if (r.mean_time_between.value() <= 0) return false;
  return (interval + r.checkpoint + recovery_of(r)) / r.mean_time_between > kHopeless;
}

// [SCALE-2] E = M e^{R/M} (e^{s/M} - 1), s = τ + δ (Daly 2006, eq. 13 without its approximations).
// The first try costs min(X, s); after a failure R + s must pass without another, which takes
// M (e^{(R+s)/M} - 1) in the mean. Failures: E / M, for they come all the time.
// [SCALE-3] Variance, with q = P(X < s), Y the time after a failure, y = λ(R + s):
//   Var = q Var(Y) + Var(1{X<s} (X + E[Y] - s)),   λ² Var(Y) = e^{2y} - 1 - 2 y e^y.
// Valid for exponential times between failures; hidden writes to first order of their share.
Segment segment(const Reliability& r, Seconds interval) {
  Segment out;
  const double s = (interval + r.checkpoint).value();
  out.mean = Seconds(s);
  if (r.mean_time_between.value() <= 0) return out;
  const double m = r.mean_time_between.value();
  const double recovery = recovery_of(r).value();
  const double a = s / m, b = recovery / m;
  out.mean = Seconds(m * std::exp(b) * std::expm1(a));
  out.failures = out.mean.value() / m;
  // Each failure begins a try at recovering, of min(X, R) = M (1 - e^{-R/M}) in the mean.
  out.recovery = out.mean * -std::expm1(-b);
  const double q = lower_gamma(0, a), x1 = m * lower_gamma(1, a), x2 = m * m * lower_gamma(2, a);
  const double more = m * std::expm1(a + b) - s;  // E[Y] - s
  const double first = x1 + more * q, second = x2 + 2 * more * x1 + more * more * q;
  out.variance = q * m * m * gap_variance(a + b) + second - first * first;
  return out;
}

// [SCALE-4] d/dτ (E/τ) = 0: x = τ/M solves x = 1 - e^{-x - δ/M}, that is
// x = 1 + W₀(-e^{-1 - δ/M}), W₀ Lambert's function. It does not depend on the restart. For δ << M
// it is Young's √(2 δ M).
Seconds best_interval(const Reliability& r) {
  const double m = r.mean_time_between.value(), d = r.checkpoint.value() / m;
  if (m <= 0) return Seconds(kNever);
  if (d <= 0) return Seconds(0);
  // f(x) = x + e^{-x-d} - 1 is convex and rises right of its root: Newton's steps from above stay
  // there.
  double x = std::min(1.0, std::sqrt(2 * d) + d);
  for (int step = 0; step < 60; ++step) {
    const double f = x + std::expm1(-x - d);
    const double next = x - f / -std::expm1(-x - d);
    if (!(next < x)) break;
    x = next;
  }
  return Seconds(m * x);
}

Seconds young_interval(const Reliability& r) {
  if (r.mean_time_between.value() <= 0) return Seconds(kNever);
  return Seconds(std::sqrt(2 * r.checkpoint.value() * r.mean_time_between.value()));
}

Seconds daly_interval(const Reliability& r) {
  const double m = r.mean_time_between.value(), delta = r.checkpoint.value();
  if (m <= 0) return Seconds(kNever);
  if (delta >= 2 * m) return Seconds(m);
  const double root = std::sqrt(delta / (2 * m));
  return Seconds(2 * m * root * (1 + root / 3 + root * root / 9) - delta);
}

RunTime run_time(const Reliability& r, Seconds training, Seconds interval, double waiting) {
  RunTime out;
  out.training = training;
  if (!std::isfinite(interval.value()) || interval >= training) {
    interval = training;  // one checkpoint, at the end
  }
  if (training.value() <= 0) return out;
  const double segments = training / interval;
  const Segment each = segment(r, interval);
  out.checkpoints = segments * r.checkpoint;
  const Seconds recovery = segments * each.recovery;
  const double restart_share = recovery_of(r).value() > 0 ? r.restart / recovery_of(r) : 0;
  out.restarts = recovery * restart_share;
  const Seconds at_work = segments * each.mean;
  out.lost_work = at_work - out.training - out.checkpoints - out.restarts;
  // No rounding may make a part of the sum negative.
  out.lost_work = std::max(Seconds(0), out.lost_work);
  out.failures = segments * each.failures;
  out.variance = segments * each.variance;
  out.waiting = at_work * (waiting / (1 - waiting));
  out.variance /= (1 - waiting) * (1 - waiting);
  out.goodput = out.training / out.total();
  return out;
}

// [SCALE-5] With the probability e^{-λ least} nothing fails and the run takes its least time. What
// comes on top of it otherwise is taken as gamma distributed with the right mean and variance
// (normal in the limit of many failures), its quantile after Wilson & Hilferty (1931).
Seconds quantile_of(const RunTime& run, double q) {
  const double mean = (run.total() - run.least()).value();
  if (mean <= 0 || run.variance <= 0) return run.total();
  const double none = std::exp(-run.failures * (run.least() / (run.total() - run.waiting)));
  if (q <= none) return run.least();
  const double some = 1 - none, given = mean / some;
  const double shape = given * given / ((run.variance + mean * mean) / some - given * given);
  const double z = normal_quantile((q - none) / some);
  const double root = 1 - 1 / (9 * shape) + z / (3 * std::sqrt(shape));
  return run.least() + Seconds(given * std::pow(std::max(0.0, root), 3));
}

// [SCALE-6] Nodes fail while the run goes on, one at a time, and come back after a repair; with
// k spares the run stands still while k + 1 are away, and then none fails. That is Erlang's loss
// system (its states 0 … k + 1), whose last state has the share
//   B(k + 1) = (ρ^{k+1}/(k+1)!) / Σ_{j ≤ k+1} ρʲ/j!,   ρ = repair / time between failures,
// whatever the distribution of the repair. B(j) = ρ B(j-1) / (j + ρ B(j-1)), B(0) = 1.
double waiting_share(Seconds failing_between, Seconds repair, std::int64_t spares) {
  if (failing_between.value() <= 0) return 0;
  const double load = repair / failing_between;
  double blocked = 1;
  for (std::int64_t j = 1; j <= spares + 1 && blocked > 1e-300; ++j) {
    blocked = load * blocked / (static_cast<double>(j) + load * blocked);
  }
  return blocked;
}

// The run takes 1/(1 - B(k + 1)) as long, on nodes + k.
std::int64_t cheapest_spares(Seconds failing_between, Seconds repair, std::int64_t nodes) {
  if (failing_between.value() <= 0) return 0;
  constexpr std::int64_t kMost = 100'000'000;
  const double load = repair / failing_between;
  double blocked = load / (1 + load);
  double least = static_cast<double>(nodes) / (1 - blocked);
  for (std::int64_t spares = 1; spares < kMost; ++spares) {
    blocked = load * blocked / (static_cast<double>(spares + 1) + load * blocked);
    const double cost = static_cast<double>(nodes + spares) / (1 - blocked);
    if (cost > least) return spares - 1;
    least = cost;
  }
  return kMost;
}

double normal_quantile(double q) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                          6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                          3.754408661907416e+00};
  q = std::clamp(q, 1e-12, 1 - 1e-12);
  double z = 0;
  const double tail = std::min(q, 1 - q);
  if (tail < 0.02425) {
    const double t = std::sqrt(-2 * std::log(tail));
    z = (((((c[0] * t + c[1]) * t + c[2]) * t + c[3]) * t + c[4]) * t + c[5]) /
        ((((d[0] * t + d[1]) * t + d[2]) * t + d[3]) * t + 1);
    if (q > 0.5) z = -z;
  } else {
    const double t = q - 0.5, u = t * t;
    z = (((((a[0] * u + a[1]) * u + a[2]) * u + a[3]) * u + a[4]) * u + a[5]) * t /
        (((((b[0] * u + b[1]) * u + b[2]) * u + b[3]) * u + b[4]) * u + 1);
  }
  constexpr double kRootTwoPi = 2.5066282746310002;
  const double error = 0.5 * std::erfc(-z / std::sqrt(2.0)) - q;
  const double step = error * kRootTwoPi * std::exp(z * z / 2);
  return z - step / (1 + z * step / 2);
}

}  // namespace headway
