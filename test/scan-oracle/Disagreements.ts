import type { Verdicts } from "./Verdicts.ts"

/** A kind of disagreement. docs/scan.md explains it under `rule`. */
interface KnownDisagreement {
  readonly rule: string
  /** The beginning of the reason that the refusing side prints. */
  readonly reasons: ReadonlyArray<string>
  /** A pattern that the files must match, if the reason alone would excuse too many modules. */
  readonly about?: RegExp
}

/** The scan refuses a module that the tool accepts. */
export const stricter: ReadonlyArray<KnownDisagreement> = [
  { rule: "Computed booleans", reasons: ["not_literal_boolean", "ephemeral_root_output"], about: /&&|==|tobool/ },
  { rule: "Computed texts", reasons: ["not_literal_text"] },
  {
    rule: "Modules from elsewhere",
    reasons: ["module_source_absolute", "module_source_invalid", "module_source_not_literal", "module_source_unknown"]
  },
  {
    rule: "Numbers beyond a double",
    reasons: ["hcl_value", "number_out_of_range", "default_type_mismatch"],
    about: /1e400|Inf/
  },
  {
    rule: "Names with escapes or of providers",
    reasons: ["invalid_name", "invalid_provider"],
    about: /\\u0061|provider \\"1a|[^\x20-\x7e]|-\/aws|= (?:1|true|null)\\n|\[aws\]|terraform-provider/
  },
  { rule: "Overrides that the tool drops", reasons: ["override_without_base"], about: /ephemeral/ },
  { rule: "Folders without a file for the tool", reasons: ["tool_cannot_read"] },
  { rule: "Bytes that are no character", reasons: ["invalid_utf8"], about: /\xc0\x80|\xed\xa0\x80|\xf5\x80\x80\x80/ },
  { rule: "Nested lists in JSON syntax", reasons: ["wrong_labels"], about: /\[\[/ }
]

/** The tool refuses a module that the scan accepts, and the plan reports the refusal. */
export const laxer: ReadonlyArray<KnownDisagreement> = [
  {
    rule: "Expressions",
    reasons: [
      "Call to unknown function",
      "Unknown provider function",
      "Function calls not allowed",
      "Variables not allowed",
      "Cycle",
      "Self-referencing local value",
      "Reference to ",
      "Invalid reference",
      "Invalid index",
      'Invalid "self" reference',
      "Invalid function argument",
      "Invalid default value for variable",
      "Invalid expression",
      "Incorrect value type",
      "Invalid template control keyword",
      "Missing expression",
      "Duplicate object attribute",
      "Invalid local value name",
      "Output refers to sensitive values",
      "Ephemeral value not allowed",
      "Value not allowed in ephemeral output",
      "Invalid count argument",
      "Invalid for_each argument",
      "Error in function call",
      "Invalid template interpolation value",
      "Invalid character",
      "Extra characters after interpolation expression",
      "Invalid multi-line string",
      "Invalid escape sequence"
    ]
  },
  {
    rule: "Arguments and nested blocks",
    reasons: [
      "Unsupported argument",
      "Unsupported block type",
      "Missing required argument",
      "Extraneous JSON object property",
      "Invalid combination of ",
      "Reserved block type name",
      "Duplicate lifecycle block",
      "Duplicate provider address",
      "Zero assert blocks",
      "Multiple data resource blocks",
      "Invalid assert expression",
      "Invalid validation expression",
      "Invalid variable validation condition",
      "Invalid precondition expression",
      "Invalid address",
      'Invalid "moved" addresses',
      "Invalid import ",
      "Resource instance keys not allowed",
      "Data source address not allowed",
      "Configuration for import target",
      "Incorrect JSON value type",
      "Redundant move statement",
      "Moved object still exists",
      "Cross-package move"
    ]
  },
  {
    rule: "Resource types and providers",
    reasons: [
      "Invalid resource type",
      "Invalid data source",
      "Invalid ephemeral resource",
      "Missing required provisioner plugin",
      "Provider configuration not present",
      "Provider type mismatch"
    ]
  },
  {
    rule: "Type constraints in detail",
    reasons: ["Invalid type specification", "Invalid default value for optional attribute"]
  },
  {
    rule: "Experiments and editions",
    reasons: ["Module uses experimental features", "Invalid language edition", "Unsupported language edition"]
  },
  { rule: "Test files", reasons: ["Argument or block definition required"], about: /\.tftest\.hcl/ }
]

/**
 * Returns the rules that explain a disagreement, or `undefined` if any of its reasons has no rule that explains it. Results
 * that agree need no rule.
 */
export const rulesFor = ({ scan, tool }: Verdicts, files: string): ReadonlyArray<string> | undefined => {
  if ((scan.length === 0) === (tool.length === 0)) return []
  const [known, reasons] = scan.length > 0 ? [stricter, scan] : [laxer, tool]
  const rules = reasons.map(
    (reason) =>
      known.find(
        (disagreement) =>
          disagreement.reasons.some((beginning) => reason.startsWith(beginning)) &&
          (disagreement.about === undefined || disagreement.about.test(files))
      )?.rule
  )
  return rules.every((rule) => rule !== undefined) ? [...new Set(rules)] : undefined
}
