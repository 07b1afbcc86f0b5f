import { Schema } from "effect"
import type { JsonRefusalReason } from "../json/JsonRefusal.ts"

const jsonCodes = [
  "json_too_large",
  "json_byte_order_mark",
  "json_invalid_utf8",
  "json_syntax",
  "json_too_deep",
  "json_too_many_nodes",
  "json_key_too_long",
  "json_string_too_long",
  "json_duplicate_key",
  "json_lone_surrogate",
  "json_number_out_of_range",
  "json_number_rounded"
] as const satisfies ReadonlyArray<`json_${JsonRefusalReason}`>

/** Rules for a single field, independent of other fields. */
const fieldCodes = [
  "unknown_version",
  "unknown_field",
  "missing_field",
  "wrong_type",
  "invalid_value",
  "invalid_length",
  "invalid_count",
  "invalid_number",
  "invalid_pattern",
  "invalid_path",
  "invalid_url",
  "not_canonical",
  "not_unique",
  "blank",
  "control_character",
  "value_too_deep",
  "secret_material",
  "host_authority_material"
] as const

/** Rules for combinations of fields in one document. */
const crossFieldCodes = [
  "unknown_default_module",
  "duplicate_name",
  "duplicate_role",
  "duplicate_requirement",
  "duplicate_delivery",
  "duplicate_key",
  "too_many_generated_secrets",
  "secret_requires_user_source",
  "default_forbids_required",
  "env_cannot_be_secret",
  "oidc_requires_endpoint",
  "oidc_requires_openid",
  "duplicate_feature",
  "feature_input_not_user",
  "feature_input_claimed",
  "conflicting_output_type",
  "unknown_resource_input"
] as const

/** Rules for what a manifest may request for one module of a snapshot under the operator's policy. */
const compilationCodes = [
  "variable_not_found",
  "variable_type_not_proven",
  "default_not_proven",
  "variable_claimed_twice",
  "operator_declaration_conflict",
  "requirement_kind_not_allowed",
  "reserved_binding",
  "binding_environment_not_found",
  "oidc_requires_four_slots",
  "oidc_requires_endpoint_url",
  "oidc_bindings_need_v2_4",
  "oidc_not_allowed",
  "oidc_scope_not_allowed",
  "oidc_callback_not_allowed",
  "oidc_bindings_not_allowed",
  "output_not_found",
  "output_not_public",
  "permission_not_allowed",
  "module_not_declared",
  "module_not_found",
  "module_not_scanned",
  "manifest_absent",
  "manifest_version_mismatch"
] as const

export const ManifestDiagnosticCode = Schema.Literals([
  ...jsonCodes,
  ...fieldCodes,
  ...crossFieldCodes,
  ...compilationCodes
])
export type ManifestDiagnosticCode = typeof ManifestDiagnosticCode.Type

/**
 * The reason why a document was rejected. `path` is a JSON Pointer (RFC 6901; "" is the whole document) in which keys that are
 * not plain names are `*`. `message` describes the expected value. Neither contains a rejected value.
 */
export const ManifestDiagnostic = Schema.Struct({
  path: Schema.String,
  code: ManifestDiagnosticCode,
  message: Schema.String
})
export type ManifestDiagnostic = typeof ManifestDiagnostic.Type

/**
 * Maximum number of diagnostics. More would not help an author, and would let a hostile document cause an arbitrarily large
 * report.
 */
export const maxDiagnostics = 100
