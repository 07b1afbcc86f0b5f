import type { RunLimitCode } from "../../../../schema/records/RunConfinement.ts"
import type { Run, RunDiagnostic } from "../../api/Types.ts"

export type Advice =
  | "agent"
  | "network"
  | "credentials"
  | "configuration"
  | "state"
  | "stale"
  | "timeout"
  | "plan"
  | "apply"
  | "lifecycle"
  | "profile"
  | "other"

const rules: ReadonlyArray<readonly [RegExp, Advice]> = [
  [/^lifecycle_/, "lifecycle"],
  [/^profile_|^operator_/, "profile"],
  [/stale|superseded|moved|epoch|already used|plan_used/i, "stale"],
  [/timeout|timed out|deadline/i, "timeout"],
  [
    /connection refused|could not connect|no such host|dial tcp|dns|unreachable|network|tls handshake|registry .*unavailable/i,
    "network"
  ],
  [
    /credential|unauthori[sz]ed|forbidden|access ?denied|not authori[sz]ed|authentication|missing_connection|permission|401|403/i,
    "credentials"
  ],
  [
    /unsupported|invalid|missing required|no value for required variable|reference to undeclared|syntax|validation/i,
    "configuration"
  ]
]

/** Advice about the limit that stopped a Run, if one did. */
export const limitOf = (
  { error }: Pick<Run, "error">,
  texts: Readonly<Record<RunLimitCode, string>>
): string | undefined => Object.entries(texts).find(([code]) => code === error?.code)?.[1]

/** The next step after a failure: chosen by its code and messages, else by the type of Run. */
export const adviceFor = (run: Pick<Run, "type" | "error">, diagnostics: ReadonlyArray<RunDiagnostic>): Advice => {
  const text = [
    run.error?.code ?? "",
    run.error?.message ?? "",
    ...diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ summary, detail }) => `${summary} ${detail ?? ""}`)
  ].join("\n")
  const found = rules.find(([pattern]) => pattern.test(text))?.[1]
  if (run.error?.code === "agent_lost" && (run.type === "apply" || run.type === "destroy_apply")) return "agent"
  if (found !== undefined) return found
  if (run.type === "apply" || run.type === "destroy_apply") return "apply"
  return run.type === "plan" || run.type === "destroy_plan" || run.type === "drift_check" ? "plan" : "other"
}
