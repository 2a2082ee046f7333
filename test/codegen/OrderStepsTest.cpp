// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The steps that dyn-order-errors writes have the numbers that the runtime reads them by. Neither room may
// include the other's header: they meet here, and where one has a number of its own this does not compile.
#include "passes/dyn/OrderSteps.h"
#include "ir/Dyn/Dyn.h"

#include <dbc/first_error.h>

namespace {

#define DBC_SAME(Enum, Name)                                                                                 \
  static_assert(static_cast<int>(dbc::passes::Enum::Name) == static_cast<int>(dbc::Enum::Name), #Name)

DBC_SAME(Step, Constant);
DBC_SAME(Step, Move);
DBC_SAME(Step, Field);
DBC_SAME(Step, Argument);
DBC_SAME(Step, Int);
DBC_SAME(Step, Logic);
DBC_SAME(Step, Select);
DBC_SAME(Step, Narrow);
DBC_SAME(Step, Range);
DBC_SAME(Step, Length);
DBC_SAME(Step, Zip);
DBC_SAME(Step, Reverse);
DBC_SAME(Step, Slice);
DBC_SAME(Step, At);
DBC_SAME(Step, Some);
DBC_SAME(Step, Reduce);
DBC_SAME(Step, Event);
DBC_SAME(Step, Begin);
DBC_SAME(Step, Next);
DBC_SAME(Step, Jump);
DBC_SAME(Step, Unless);
DBC_SAME(Step, Switch);
DBC_SAME(Step, Nodes);
DBC_SAME(Step, Owner);
DBC_SAME(Step, Key);
DBC_SAME(Step, Call);
DBC_SAME(Step, Every);
DBC_SAME(Step, Discover);
DBC_SAME(Step, Return);
DBC_SAME(Logic, And);
DBC_SAME(Logic, Or);
DBC_SAME(Logic, Xor);
DBC_SAME(Logic, Equal);
DBC_SAME(Logic, NotEqual);
DBC_SAME(Logic, Less);
DBC_SAME(Logic, LessEqual);
DBC_SAME(Logic, Greater);
DBC_SAME(Logic, GreaterEqual);
DBC_SAME(Logic, Largest);
DBC_SAME(Logic, Least);
DBC_SAME(Reduction, Sum);
DBC_SAME(Reduction, Max);
DBC_SAME(Reduction, Min);
DBC_SAME(Reduction, Any);
DBC_SAME(Reduction, All);
DBC_SAME(OwnerKind, Own);
DBC_SAME(OwnerKind, Input);
DBC_SAME(OwnerKind, OfCall);
DBC_SAME(Binder, Map);
DBC_SAME(Binder, Filter);
DBC_SAME(Binder, Scan);
DBC_SAME(Binder, Fold);

#undef DBC_SAME

// The kinds of integer operations are those of the dialect.
#define DBC_SAME_INT(Name)                                                                                   \
  static_assert(static_cast<int>(dbc::dyn::IntKind::Name) == static_cast<int>(dbc::IntStep::Name), #Name)
DBC_SAME_INT(Add);
DBC_SAME_INT(Sub);
DBC_SAME_INT(Mul);
DBC_SAME_INT(Div);
DBC_SAME_INT(Rem);
DBC_SAME_INT(Max);
DBC_SAME_INT(Min);
#undef DBC_SAME_INT

static_assert(dbc::passes::siteCoordinate(3) == dbc::site_coordinate(3), "siteCoordinate");

} // namespace
