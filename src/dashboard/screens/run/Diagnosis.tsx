import type { Capsule, Run, RunDiagnostic, RunEvent } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { FailureReason } from "../../ui/FailureReason.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { leftKnownState } from "../../words/FailureEvidence.ts"
import { useWords } from "../../words/Words.ts"
import { errorHash } from "./LogLink.ts"
import { PlanAgain } from "./PlanAgain.tsx"
import { diagnosisWords } from "./DiagnosisWords.ts"
import type { RunLimitCode } from "../../../../schema/records/RunConfinement.ts"
import { expectedOf, progressOf } from "./Phases.ts"

type Advice =
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

/** Returns advice about the limit that stopped a Run, or `undefined` if no limit did. */
const limitOf = ({ error }: Pick<Run, "error">, texts: Readonly<Record<RunLimitCode, string>>): string | undefined =>
  Object.entries(texts).find(([code]) => code === error?.code)?.[1]

/** The next step after a failure, selected by its code and messages, or else by the type of Run. */
const adviceFor = (run: Pick<Run, "type" | "error">, diagnostics: ReadonlyArray<RunDiagnostic>): Advice => {
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

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const fromEvent = ({ data }: Extract<RunEvent, { readonly kind: "diagnostic" }>): RunDiagnostic => {
  const detail = text(data.detail)
  const address = text(data.address)
  const path = text(data.path)
  return {
    severity: data.severity === "warning" ? "warning" : "error",
    summary: text(data.summary) ?? "",
    ...(detail === undefined ? {} : { detail }),
    ...(address === undefined ? {} : { address }),
    ...(path === undefined ? {} : { path }),
    ...(typeof data.line === "number" ? { line: data.line } : {})
  }
}

/** The recorded diagnostics of the Run or, while the Run is running, the diagnostics in its events so far. */
export const diagnosticsOf = (run: Run, events: ReadonlyArray<RunEvent>): ReadonlyArray<RunDiagnostic> =>
  run.diagnostics ?? events.filter((event) => event.kind === "diagnostic").map(fromEvent)

const Diagnostic = ({ diagnostic, place }: { readonly diagnostic: RunDiagnostic; readonly place?: number }) => {
  const words = useWords(diagnosisWords)
  return (
    <li className={`diagnostic diagnostic-${diagnostic.severity}`}>
      <strong lang="en">{diagnostic.summary}</strong>
      <p className="diagnostic-place">
        {diagnostic.address === undefined ? null : <code>{diagnostic.address}</code>}
        {diagnostic.path === undefined ? null : (
          <code>{`${diagnostic.path}${diagnostic.line === undefined ? "" : `:${diagnostic.line}`}`}</code>
        )}
        {place === undefined ? null : <a href={errorHash(place)}>{words.inLog}</a>}
      </p>
      {diagnostic.detail === undefined ? null : (
        <pre className="diagnostic-detail" lang="en">
          {diagnostic.detail}
        </pre>
      )}
    </li>
  )
}

interface DiagnosisProps {
  readonly run: Run
  readonly capsule: Capsule | undefined
  readonly events: ReadonlyArray<RunEvent>
  /** For an apply, the plan that it applied. */
  readonly plan: Run | undefined
}

const isChange = (run: Run): boolean => run.type === "apply" || run.type === "destroy_apply" || run.type === "restore"

interface PartlyAppliedProps {
  readonly run: Run
  readonly plan: Run | undefined
  readonly events: ReadonlyArray<RunEvent>
}

/** Shows the objects that remain after a failed Run saved its state, with counts if the tool reported any. */
const PartlyApplied = ({ events, plan, run }: PartlyAppliedProps) => {
  const words = useWords(diagnosisWords)
  const items = run.type === "restore" ? [] : progressOf(events)
  const done = items.filter(({ state }) => state === "done").length
  const total = Math.max(expectedOf(plan), items.length)
  return (
    <Notice tone="info" title={words.partialTitle}>
      <p>{total === 0 ? words.partialText : words.partialCount(done, total)}</p>
    </Notice>
  )
}

/** Explains a failed Run: first the cause, then the effects, then the next step. */
export const Diagnosis = ({ run, capsule, events, plan }: DiagnosisProps) => {
  const words = useWords(diagnosisWords)
  const workspace = useWorkspace()
  const found = diagnosticsOf(run, events)
  const errors = found.filter(({ severity }) => severity === "error")
  const warnings = found.filter(({ severity }) => severity === "warning")
  const failed = run.status === "failed"
  const advice = adviceFor(run, found)
  const uncertain =
    isChange(run) &&
    capsule?.runtimeSafety === "unknown" &&
    run.status !== "running" &&
    run.status !== "queued" &&
    !leftKnownState(run)
  return (
    <>
      {failed ? (
        <section className="diagnosis" role="alert">
          <h2>{words.failedTitle}</h2>
          {errors.length === 0 ? <FailureReason className="diagnosis-message" error={run.error} /> : null}
          <ul className="diagnostics">
            {errors.map((diagnostic, index) => (
              <Diagnostic
                key={index}
                diagnostic={diagnostic}
                {...(run.logRemovedAt === undefined ? { place: index + 1 } : {})}
              />
            ))}
          </ul>
          {errors.length === 0 ? null : <FailureReason className="diagnosis-code" error={run.error} />}
          <div className="diagnosis-next">
            <h3>{words.nextTitle}</h3>
            <p>{limitOf(run, words.limits) ?? words.advice[advice]}</p>
            <div className="diagnosis-actions">
              {capsule === undefined ? null : (
                <PlanAgain
                  capsule={capsule}
                  destroy={run.type === "destroy_plan" || run.type === "destroy_apply"}
                  purpose={run.purpose}
                />
              )}
              {advice === "credentials" ? (
                <LinkButton to="/w/$workspace/connections" params={{ workspace: workspace.handle }}>
                  {words.fixConnection}
                </LinkButton>
              ) : null}
              {advice === "configuration" && capsule !== undefined ? (
                <LinkButton
                  to="/w/$workspace/capsules/$capsuleId/$tab"
                  params={{ workspace: workspace.handle, capsuleId: capsule.id, tab: "configuration" }}
                >
                  {words.editConfiguration}
                </LinkButton>
              ) : null}
            </div>
          </div>
        </section>
      ) : null}
      {run.status !== "cancelled" || run.error === undefined ? null : (
        <Notice tone="warn">
          <FailureReason error={run.error} />
        </Notice>
      )}
      {run.possiblyCreated === undefined || run.possiblyCreated.length === 0 ? null : (
        <Notice tone="warn" title={words.possiblyTitle}>
          <p>{run.error?.code === "agent_lost" ? words.possiblyLost : words.possiblyText}</p>
          <ul className="addresses">
            {run.possiblyCreated.map((address) => (
              <li key={address}>
                <code>{address}</code>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {uncertain ? (
        <Notice tone="warn" title={words.unsafeTitle}>
          <p>{words.unsafeText}</p>
        </Notice>
      ) : failed && isChange(run) && run.stateVersionId !== undefined ? (
        <PartlyApplied run={run} plan={plan} events={events} />
      ) : null}
      {warnings.length === 0 ? null : (
        <details className="warnings">
          <summary>{words.warnings(warnings.length)}</summary>
          <ul className="diagnostics">
            {warnings.map((diagnostic, index) => (
              <Diagnostic key={index} diagnostic={diagnostic} />
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
