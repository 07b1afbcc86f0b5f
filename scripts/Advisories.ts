import { Option, Schema } from "effect"

const Audited = Schema.fromJsonString(
  Schema.Struct({
    vulnerabilities: Schema.Record(
      Schema.String,
      Schema.Struct({ severity: Schema.String, isDirect: Schema.optionalKey(Schema.Boolean), range: Schema.String })
    )
  })
)

/** Advisories of these severities fail the check. */
const refused = new Set(["high", "critical"])

type Verdict =
  | { readonly kind: "unanswered"; readonly reason: string }
  | { readonly kind: "passed"; readonly lesser: ReadonlyArray<string> }
  | { readonly kind: "failed"; readonly advisories: ReadonlyArray<string> }

/**
 * Evaluates the output of `npm audit --json`. If the registry does not respond, the check does not fail, because the
 * availability of the registry does not depend on the commit.
 */
export const advisoryVerdict = (answer: string): Verdict => {
  const audited = Schema.decodeUnknownOption(Audited)(answer)
  if (Option.isNone(audited)) {
    const [reason = "no output"] = answer.trim().split("\n")
    return { kind: "unanswered", reason: reason.slice(0, 200) }
  }
  const found = Object.entries(audited.value.vulnerabilities).map(
    ([name, { range, severity }]) => [severity, `${name} ${range}: ${severity}`] as const
  )
  const advisories = found.flatMap(([severity, text]) => (refused.has(severity) ? [text] : []))
  if (advisories.length > 0) return { kind: "failed", advisories }
  return { kind: "passed", lesser: found.map(([, text]) => text) }
}
