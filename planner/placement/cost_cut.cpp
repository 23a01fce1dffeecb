#include <algorithm>
#include <cmath>
#include <string>

#include "planner/ir/errors.hpp"
#include "planner/placement/balance.hpp"
#include "planner/placement/placement.hpp"
#include "planner/placement/row_cost.hpp"
#include "planner/placement/spread.hpp"

namespace hsap {

namespace {

static double env(const char* n, double d) { return getenv(n) ? atof(getenv(n)) : d; }
static const double kNodeTolerance = env("NT", 0.0005);
static const double kGroupTolerance = env("GT", 0.001);static const double kNodeCap = env("NC", 0.8); static const double kRecut = env("RECUT",1); static const double kPrefer=env("PF",1e-3);

bool within(const std::vector<Bin>& bins) {
  return std::all_of(bins.begin(), bins.end(), [](const Bin& b) { return b.tokens <= b.most && b.tokens >= b.least; });
}

double worst(const std::vector<Bin>& bins) {
  double w = 0;
  for (const Bin& b : bins) w = std::max(w, b.cost / b.target);
  return w;
}

double moved(const std::vector<Bin>& bins) {
  double v = 0;
  for (const Bin& bin : bins) {
    std::vector<Piece> p = bin.pieces;
    std::sort(p.begin(), p.end(), [](const Piece& a, const Piece& b) { return std::make_pair(a.document, -a.end) < std::make_pair(b.document, -b.end); });
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (i == 0 || p[i].document != p[i - 1].document) v += double(p[i].end);
      v -= double(p[i].tokens());
    }
  }
  return v;
}

void distribute(const std::vector<Piece>& pieces, const RowCost& rows, std::vector<Bin>& bins, double tol) {
  std::vector<Bin> a = bins;
  spread_by_cost(pieces, rows, a);
  const bool fits = within(a);
  meet_token_limits(a, rows);
  for (int it = 0; it < kRecut && !fits; ++it) { recut_chains(a, rows); meet_token_limits(a, rows); }
  level_costs(a, rows, tol);
  static const int mode = getenv("MODE") ? atoi(getenv("MODE")) : 0;
  if (fits || mode == 1) {
    bins = std::move(a);
    return;
  }
  std::vector<Bin> b = bins;
  spread_under_cap(pieces, rows, b);
  meet_token_limits(b, rows);
  if (kRecut && !fits) { recut_chains(b, rows); meet_token_limits(b, rows); }
  level_costs(b, rows, tol);
  const double wa = std::max(worst(a), 1 + 2 * tol), wb = std::max(worst(b), 1 + 2 * tol);
  const bool use_b = mode == 2 || wb < wa - kPrefer || (wb < wa + kPrefer && moved(b) < moved(a));
  if (getenv("DBG")) fprintf(stderr, "bins %zu: free %.4f V %.0f | capped %.4f V %.0f -> %s\n", bins.size(), worst(a), moved(a), worst(b), moved(b), use_b ? "capped" : "free");
  bins = std::move(use_b ? b : a);
}

std::vector<Piece> merged(std::vector<Piece> pieces, const RowCost& rows) {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return std::make_pair(a.document, a.begin) < std::make_pair(b.document, b.begin); });
  std::vector<Piece> out;
  for (const Piece& p : pieces) {
    if (!out.empty() && out.back().document == p.document && out.back().end == p.begin) {
      out.back().end = p.end;
      out.back().cost = rows.of(out.back().begin, p.end);
    } else {
      out.push_back(p);
    }
  }
  return out;
}

}  // namespace

Placement place_cost_cut(const DocumentMask& mask, int groups, const CostCutOptions& options) {
  const RowCost rows(mask.window(), options.pairs_per_token);
  const Token tokens = mask.tokens();
  const Token mean = tokens / groups;
  const Token cap = std::max((tokens + groups - 1) / groups, static_cast<Token>(std::ceil(options.token_cap * double(tokens) / groups)));
  const Token floor = options.token_cap == 1.0 ? mean : 0;
  std::vector<Piece> pieces;
  double cost = 0;
  for (std::size_t d = 0; d < mask.documents(); ++d) {
    const Token n = mask.document(d).size();
    pieces.push_back({d, 0, n, rows.of(0, n)});
    cost += pieces.back().cost;
  }
  const int per = std::min(groups, options.groups_per_node);
  std::vector<Bin> nodes;
  for (int g = 0; g < groups; g += per) {
    Bin b;
    b.groups = std::min(per, groups - g);
    b.target = cost / groups * b.groups;
    b.least = floor * b.groups;
    b.most = cap * b.groups;
    if (per > 1) { Token m2 = Token(double(tokens) / groups * b.groups * (1 + kNodeCap * (options.token_cap - 1))) + 1; b.most = std::min(b.most, std::max(m2, (tokens + groups - 1) / groups * b.groups)); }
    nodes.push_back(b);
  }
  distribute(pieces, rows, nodes, per > 1 ? kNodeTolerance : kGroupTolerance);
  Placement placement;
  for (Bin& node : nodes) {
    std::vector<Bin> bins(static_cast<std::size_t>(node.groups));
    for (Bin& b : bins) {
      b.target = node.cost / node.groups;
      b.least = floor;
      b.most = cap;
    }
    distribute(merged(node.pieces, rows), rows, bins, kGroupTolerance);
    for (Bin& b : bins) {
      std::vector<TokenRange> r;
      for (const Piece& p : b.pieces) {
        const Token o = mask.document(p.document).begin;
        r.push_back({o + p.begin, o + p.end});
      }
      placement.push_back(TokenSet(std::move(r)));
    }
  }
  return placement;
}

}  // namespace hsap
