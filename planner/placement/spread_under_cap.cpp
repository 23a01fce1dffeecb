#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "planner/placement/spread.hpp"

namespace hsap {

namespace {
static double env(const char* n, double d) { return getenv(n) ? atof(getenv(n)) : d; }
static const double kUse = env("USE", 0.9);
static const double kGiant = env("GIANT", 3.0);
}  // namespace

void spread_under_cap(std::vector<Piece> pieces, const RowCost& rows, std::vector<Bin>& bins) {
  double cost = 0, tokens = 0, groups = 0, limit = 0;
  for (const Piece& p : pieces) cost += p.cost, tokens += double(p.tokens());
  for (const Bin& b : bins) groups += b.groups, limit += double(b.most);
  const double t = cost / groups, mean = tokens / groups, q = mean + kUse * (std::max(limit / groups, mean) - mean);
  const double psi = t / q;

  std::vector<Piece> lights, dense;
  for (const Piece& p : pieces) (p.cost_per_token() < psi ? lights : dense).push_back(p);
  const Token y0 = [&] {  // first row that costs psi - q/2
    double want = psi - q / 2;
    Token lo = 0, hi = 1LL << 40;
    while (lo < hi) {
      Token mid = (lo + hi) / 2;
      if (rows.of(mid, mid + 1) >= want) hi = mid; else lo = mid + 1;
    }
    return lo;
  }();
  for (Piece& p : dense)
    if (p.cost > kGiant * t * bins[0].groups && p.begin < y0 && y0 < p.end) {
      lights.push_back({p.document, p.begin, y0, rows.of(p.begin, y0)});
      p = {p.document, y0, p.end, rows.of(y0, p.end)};
    }
  double lc = 0, lt = 0;
  for (const Piece& p : lights) lc += p.cost, lt += double(p.tokens());
  const double cl = lt > 0 ? lc / lt : 0;
  std::sort(dense.begin(), dense.end(), [](const Piece& a, const Piece& b) { return std::make_tuple(-a.end, a.document, a.begin) < std::make_tuple(-b.end, b.document, b.begin); });

  // pure tails
  std::vector<int> pure(dense.size(), 0);
  std::vector<Token> end(dense.size());
  std::priority_queue<std::pair<Token, std::size_t>> ends;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    end[i] = dense[i].end;
    if (dense[i].cost > t * bins[0].groups) ends.push({end[i], dense.size() - i});
  }
  double used = 0, left = groups;
  const double w = bins[0].groups;
  while (lt > 0 && !ends.empty() && left > w + 0.5) {
    const std::size_t i = dense.size() - ends.top().second;
    ends.pop();
    if (rows.of(dense[i].begin, end[i]) <= t * w) continue;
    const Token x = rows.tail_begin(dense[i].begin, end[i], t * w);
    if (tokens - used - double(end[i] - x) > q * (left - w)) break;
    used += double(end[i] - x), left -= w;
    end[i] = x, ++pure[i];
    ends.push({x, dense.size() - i});
  }
  const double qm = left > 0 ? (tokens - used) / left : 0;
  const double g = t - cl * qm;
  const RowCost priced = rows.less(cl);
  // layout
  std::size_t next = 0;
  std::vector<double> load(bins.size(), 0.0);
  std::vector<bool> is_pure(bins.size(), false);
  std::vector<Piece> rest;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    Piece p = dense[i];
    for (int k = 0; k < pure[i]; ++k) {
      const Token x = rows.tail_begin(p.begin, p.end, bins[next].target);
      is_pure[next] = true;
      bins[next++].add({p.document, x, p.end, rows.of(x, p.end)});
      p.end = x;
    }
    while (next < bins.size() && priced.of(p.begin, p.end) > g * bins[next].groups * (1 + 1e-9)) {
      const Token x = priced.tail_begin(p.begin, p.end, g * bins[next].groups);
      if (x <= p.begin || x >= p.end || double(p.end - x) > qm * bins[next].groups) break;
      load[next] = priced.of(x, p.end);
      bins[next++].add({p.document, x, p.end, rows.of(x, p.end)});
      p.end = x;
    }
    if (p.end == p.begin) continue;
    p.cost = rows.of(p.begin, p.end);
    (p.cost_per_token() < psi ? lights : rest).push_back(p);
  }
  std::sort(rest.begin(), rest.end(), [&](const Piece& a, const Piece& b) { return std::make_tuple(-priced.of(a.begin, a.end), a.document, a.begin) < std::make_tuple(-priced.of(b.begin, b.end), b.document, b.begin); });
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry> rooms;
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (!is_pure[i]) rooms.push({g * bins[i].groups - load[i], bins.size() - i});
  for (const Piece& p : rest) {
    auto [room, o] = rooms.top();
    rooms.pop();
    bins[bins.size() - o].add(p);
    rooms.push({room - priced.of(p.begin, p.end), o});
  }
  // pour
  lt = 0;
  for (const Piece& p : lights) lt += double(p.tokens());
  double sum = 0;
  std::vector<double> quota(bins.size(), 0.0);
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (!is_pure[i]) sum += quota[i] = std::max(0.0, qm * bins[i].groups - double(bins[i].tokens));
  std::priority_queue<Entry> tr;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (sum > 0) quota[i] *= lt / sum;
    if (quota[i] > 0) tr.push({quota[i], bins.size() - i});
  }
  std::sort(lights.begin(), lights.end(), [](const Piece& a, const Piece& b) { return std::make_tuple(-a.tokens(), a.document, a.begin) < std::make_tuple(-b.tokens(), b.document, b.begin); });
  for (Piece p : lights)
    while (p.end > p.begin) {
      auto [room, o] = tr.top();
      tr.pop();
      Bin& bin = bins[bins.size() - o];
      const Token n = p.tokens();
      const Token take = (double(n) <= room || n <= bin.token_room() ) ? n : std::max<Token>(1, std::min(n, Token(room)));
      bin.add({p.document, p.end - take, p.end, rows.of(p.end - take, p.end)});
      tr.push({room - double(take), o});
      p.end -= take;
    }
}

}  // namespace hsap
