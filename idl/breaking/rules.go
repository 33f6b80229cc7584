package breaking

import "github.com/wipagent/wipagent/idl/syntax"

// The rule IDs of Compare. They are stable: an ID is never renamed, and keeps
// its meaning.
const (
	// RuleVersionLowered: a document's version is less than it was.
	RuleVersionLowered = "version-lowered"
	// RuleInterfaceRemoved: an interface is gone.
	RuleInterfaceRemoved = "interface-removed"
	// RuleInterfaceRenamed: an interface has another name or package.
	RuleInterfaceRenamed = "interface-renamed"
	// RuleOperationRemoved: an operation is gone.
	RuleOperationRemoved = "operation-removed"
	// RuleOperationRenamed: an operation has another name.
	RuleOperationRenamed = "operation-renamed"
	// RuleOperationAdded: an interface has an operation more.
	RuleOperationAdded = "operation-added"
	// RuleParameterRemoved: a parameter is gone.
	RuleParameterRemoved = "parameter-removed"
	// RuleParameterRenamed: a parameter has another name.
	RuleParameterRenamed = "parameter-renamed"
	// RuleParameterAdded: a parameter is new and need not be sent.
	RuleParameterAdded = "parameter-added"
	// RuleParameterRequired: a parameter must be sent that was not there or
	// could be left out.
	RuleParameterRequired = "parameter-required"
	// RuleParameterOrder: parameters are in another order.
	RuleParameterOrder = "parameter-order"
	// RuleParameterType: what is sent has a type that does not allow all that
	// the old one did.
	RuleParameterType = "parameter-type-changed"
	// RuleTypeNarrowed: what is sent can no longer be null.
	RuleTypeNarrowed = "type-narrowed"
	// RuleTypeWidened: what is sent has a type that allows more.
	RuleTypeWidened = "type-widened"
	// RuleRefinementNarrowed: what is sent has a tighter range or another
	// pattern.
	RuleRefinementNarrowed = "refinement-narrowed"
	// RuleDefaultChanged: a parameter that is not sent counts as another
	// value.
	RuleDefaultChanged = "default-changed"
	// RuleUnitChanged: the documentation of a number names another unit.
	RuleUnitChanged = "unit-changed"
	// RuleResultType: a result, or a part of it, has another type.
	RuleResultType = "result-type"
	// RuleResultWidened: a result can hold values that it could not.
	RuleResultWidened = "result-widened"
	// RuleResultNarrowed: a result can no longer hold values that it could.
	RuleResultNarrowed = "result-narrowed"
	// RuleFieldRemoved: a field is gone.
	RuleFieldRemoved = "field-removed"
	// RuleFieldRenamed: a field has another name.
	RuleFieldRenamed = "field-renamed"
	// RuleFieldAdded: results must hold a new field.
	RuleFieldAdded = "field-added"
	// RuleFieldRequired: calls must send a new field.
	RuleFieldRequired = "field-required"
	// RuleLabelRemoved: a label is gone.
	RuleLabelRemoved = "label-removed"
	// RuleLabelAdded: results can hold a new label.
	RuleLabelAdded = "label-added"
	// RuleTypeRenamed: a record or enum has another name.
	RuleTypeRenamed = "type-renamed"
	// RuleDeclarationRemoved: a record or enum of which no operation is made
	// is gone.
	RuleDeclarationRemoved = "declaration-removed"
	// RuleRiskRaised: an operation is more dangerous than it was.
	RuleRiskRaised = "risk-raised"
	// RuleRiskLowered: an operation is said to be less dangerous than it was.
	RuleRiskLowered = "risk-lowered"
	// RuleAudienceNarrowed: an operation is offered to fewer.
	RuleAudienceNarrowed = "audience-narrowed"
	// RuleAudienceWidened: an operation is offered to more.
	RuleAudienceWidened = "audience-widened"
	// RuleIdempotenceRemoved: an operation is no longer idempotent.
	RuleIdempotenceRemoved = "idempotence-removed"
	// RuleDryRunRemoved: an operation can no longer be tried without effect.
	RuleDryRunRemoved = "dry-run-removed"
	// RuleCostRaised: an operation counts as more calls.
	RuleCostRaised = "cost-raised"
	// RuleTimeoutLowered: an operation has less time.
	RuleTimeoutLowered = "timeout-lowered"
	// RuleOutputLowered: an operation can return less.
	RuleOutputLowered = "output-lowered"
)

// Rules returns every rule that Compare has, in the order of spec/idl.md. The
// caller owns the slice.
func Rules() []syntax.Rule {
	return []syntax.Rule{
		{ID: RuleVersionLowered, Doc: "The version of a document is less than it was."},
		{ID: RuleInterfaceRemoved, Doc: "An interface is gone."},
		{ID: RuleInterfaceRenamed, Doc: "An interface has another name, or is in another package."},
		{ID: RuleOperationRemoved, Doc: "An operation is gone."},
		{ID: RuleOperationRenamed, Doc: "An operation has another name."},
		{ID: RuleOperationAdded, Doc: "An interface has a new operation, which each implementation must have."},
		{ID: RuleParameterRemoved, Doc: "A parameter is gone."},
		{ID: RuleParameterRenamed, Doc: "A parameter has another name."},
		{ID: RuleParameterAdded, Doc: "An operation has a new parameter, which need not be sent."},
		{ID: RuleParameterRequired, Doc: "A call must send a parameter that was not there or could be left out."},
		{ID: RuleParameterOrder, Doc: "The parameters of an operation are in another order."},
		{ID: RuleParameterType, Doc: "What a caller sends has another type, which does not allow all that the old one did."},
		{ID: RuleTypeNarrowed, Doc: "What a caller sends could be null and cannot."},
		{ID: RuleTypeWidened, Doc: "What a caller sends has a type that allows more, which bindings write otherwise."},
		{ID: RuleRefinementNarrowed, Doc: "What a caller sends has a tighter range, or another pattern."},
		{ID: RuleDefaultChanged, Doc: "A parameter that is not sent counts as another value."},
		{ID: RuleUnitChanged, Doc: "The documentation of a number named one unit and names another."},
		{ID: RuleResultType, Doc: "A result, or a part of one, has another type."},
		{ID: RuleResultWidened, Doc: "A result, or a part of one, can be what it could not."},
		{ID: RuleResultNarrowed, Doc: "A result, or a part of one, could be what it can no longer."},
		{ID: RuleFieldRemoved, Doc: "A field is gone."},
		{ID: RuleFieldRenamed, Doc: "A field has another name."},
		{ID: RuleFieldAdded, Doc: "A record has a new field, which each result must hold."},
		{ID: RuleFieldRequired, Doc: "A record has a new field, which each call must send."},
		{ID: RuleLabelRemoved, Doc: "A label of an enum is gone."},
		{ID: RuleLabelAdded, Doc: "An enum that results hold has a new label."},
		{ID: RuleTypeRenamed, Doc: "A record or enum has another name."},
		{ID: RuleDeclarationRemoved, Doc: "A record or enum is gone, of which no operation here was made."},
		{ID: RuleRiskRaised, Doc: "An operation is riskier than it was."},
		{ID: RuleRiskLowered, Doc: "An operation says that it is less risky than it was. It breaks nobody and must be seen."},
		{ID: RuleAudienceNarrowed, Doc: "An operation is offered to fewer audiences."},
		{ID: RuleAudienceWidened, Doc: "An operation is offered to more audiences. It breaks nobody and must be seen."},
		{ID: RuleIdempotenceRemoved, Doc: "An operation was idempotent and is not."},
		{ID: RuleDryRunRemoved, Doc: "An operation could be tried without effect and cannot."},
		{ID: RuleCostRaised, Doc: "An operation counts as more calls than it did."},
		{ID: RuleTimeoutLowered, Doc: "An operation has less time than it had."},
		{ID: RuleOutputLowered, Doc: "The result of an operation can be less long than it could."},
	}
}
