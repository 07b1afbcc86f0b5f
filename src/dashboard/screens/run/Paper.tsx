import { useQuery } from "@tanstack/react-query"
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react"
import { createPortal } from "react-dom"
import { visibleText } from "../../../../schema/records/VisibleText.ts"
import { runApprovalsQuery } from "../../api/ApprovalQueries.ts"
import { membersQuery } from "../../api/Queries.ts"
import type { Capsule, ResourceChange, Run, RunApprovals } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import type { DifferenceLine, Segment } from "../../value-difference/Difference.ts"
import { valueDifference } from "../../value-difference/ValueDifference.ts"
import { useNow } from "../../ui/Time.tsx"
import { exactTime } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { decisionWords } from "./DecisionWords.ts"
import { impactWords } from "./ImpactWords.ts"
import { paperWords } from "./PaperWords.ts"
import {
  type ChangedSides,
  changeKind,
  changeName,
  diffOf,
  inlineText,
  isShownOutput,
  type Side,
  sidesOf
} from "./PlanDiff.ts"
import { planWords } from "./PlanWords.ts"
import { RestoreView } from "./RestoreView.tsx"

interface OfRun {
  readonly run: Run
  readonly capsule: Capsule | undefined
}

const textOf = (segments: ReadonlyArray<Segment>) => segments.map(({ text }) => text).join("")

/** Renders a difference as plain lines for print. */
const useLines = () => {
  const words = useWords(paperWords)
  return (lines: ReadonlyArray<DifferenceLine>): string =>
    lines
      .map((line) => {
        switch (line.kind) {
          case "same":
            return `  ${line.text}`
          case "removed":
            return `- ${textOf(line.segments)}`
          case "added":
            return `+ ${textOf(line.segments)}`
          case "path":
            return line.path.join(" › ")
          case "moved":
            return `~ ${line.text} (${words.moved(line.from, line.to)})`
          case "fold":
            return words.unchanged(line.count)
        }
      })
      .join("\n")
}

const Value = ({
  actions,
  drift,
  value
}: {
  readonly actions: ReadonlyArray<string>
  readonly drift: boolean
  readonly value: ChangedSides & { readonly name: string }
}) => {
  const words = useWords(planWords)
  const lines = useLines()
  const { after, before } = sidesOf(value, actions)
  const isKnown = [before, after].every(({ kind }) => kind !== "hidden" && kind !== "later")
  const isLong = [before, after].some((side) => side.kind === "value" && inlineText(side.value) === undefined)
  if (isKnown && isLong) {
    const [from, to] = [before, after].map((side) => (side.kind === "value" ? side.value : undefined))
    return (
      <li>
        {visibleText(value.name)}
        <pre>{lines(valueDifference({ name: value.name, before: from, after: to }).lines)}</pre>
      </li>
    )
  }
  const shown = (side: Side): string =>
    side.kind === "value"
      ? (inlineText(side.value) ?? visibleText(JSON.stringify(side.value)))
      : side.kind === "hidden"
        ? words.hidden
        : side.kind === "later"
          ? words.later
          : side.kind === "null"
            ? "null"
            : words.absent
  return (
    <li>
      {visibleText(value.name)}: {drift ? `${words.was} ` : ""}
      {shown(before)} → {drift ? `${words.is} ` : ""}
      {shown(after)}
    </li>
  )
}

const Change = ({ change, drift }: { readonly change: ResourceChange; readonly drift: boolean }) => {
  const words = useWords(planWords)
  const { deposed, importing, previousAddress } = change
  const kinds = drift ? words.driftKinds : words.kinds
  const notes = [
    ...(deposed === undefined ? [] : [words.deposed(visibleText(deposed))]),
    ...(importing === undefined ? [] : [words.imports(importing.id)]),
    ...(previousAddress === undefined ? [] : [words.movedFrom(visibleText(previousAddress))])
  ]
  return (
    <li>
      <strong>{kinds[changeKind(change)]}</strong> <code>{visibleText(change.address)}</code>
      {notes.length === 0 ? null : ` (${notes.join(", ")})`}
      <ul>
        {change.changedAttributes.map((attribute) => (
          <Value key={attribute.name} value={attribute} actions={change.actions} drift={drift} />
        ))}
      </ul>
    </li>
  )
}

const Decisions = ({ run, standing }: { readonly run: Run; readonly standing: RunApprovals | undefined }) => {
  const words = useWords(paperWords)
  const ends = useWords(decisionWords).ends
  const language = useLanguage()
  const actorName = useActorName()
  const nameOf = (subject: string | undefined) =>
    subject === undefined || subject === "service" ? "svc" : actorName(subject)
  const given = standing?.approvals ?? []
  const approvals =
    given.length > 0
      ? given.map(({ approver, comment, createdAt }) => ({ name: nameOf(approver), comment, at: createdAt }))
      : run.approvedAt === undefined
        ? []
        : [{ name: nameOf(run.approvedBy), comment: run.approvalComment, at: run.approvedAt }]
  return (
    <ul>
      {approvals.map(({ at, comment, name }) => (
        <li key={`${name} ${at}`}>
          {words.approved(name, exactTime(language, at))}
          {comment === undefined ? null : `: ${comment}`}
        </li>
      ))}
      {run.endedBy === undefined ? null : (
        <li>
          {words.ended(ends[run.endedBy.kind], nameOf(run.endedBy.subject), exactTime(language, run.endedBy.at))}
          {run.endedBy.reason === undefined ? null : `: ${run.endedBy.reason}`}
        </li>
      )}
      {approvals.length === 0 && run.endedBy === undefined ? <li>{words.undecided}</li> : null}
    </ul>
  )
}

const Part = ({ children, title }: { readonly children: ReactNode; readonly title: string }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
)

/** Renders a plan on one page: every change in full, the digest, and each decision with the person who made it. */
const PlanPage = ({ capsule, run, standing }: OfRun & { readonly standing: RunApprovals | undefined }) => {
  const words = useWords(paperWords)
  const plans = useWords(planWords)
  const terms = useWords(vocabulary)
  const impact = useWords(impactWords)
  const language = useLanguage()
  const actorName = useActorName()
  const now = useNow(60_000)
  const drift = run.refreshOnly === true || run.type === "drift_check"
  const { groups, noise } = diffOf((drift ? run.resourceDrift : run.resourceChanges) ?? [], "", drift)
  const changes = [
    ...groups.flatMap((group) => group.changes),
    ...noise.filter((change) => changeKind(change) !== "none")
  ]
  const outputs = (run.outputChanges ?? []).filter(isShownOutput)
  return (
    <>
      <h1>
        {terms.runType[run.type]}
        {capsule === undefined ? "" : ` · ${capsule.name} · ${capsule.environment}`} · {terms.runStatus[run.status]}
      </h1>
      <dl>
        <dt>{words.run}</dt>
        <dd>{run.id}</dd>
        <dt>{words.address}</dt>
        <dd>{globalThis.location.href}</dd>
        {run.resolvedCommit === undefined ? null : (
          <>
            <dt>commit</dt>
            <dd>
              {run.resolvedCommit} {visibleText(run.commitDescription?.title ?? "")}
            </dd>
          </>
        )}
        <dt>{words.plannedBy}</dt>
        <dd>
          {run.createdBy === undefined ? "svc" : actorName(run.createdBy)}, {exactTime(language, run.createdAt)}
        </dd>
        <dt>{words.digest}</dt>
        <dd>{run.planDigest ?? "–"}</dd>
      </dl>
      <p>{words.taken(exactTime(language, new Date(now).toISOString()))}</p>
      <Part title={words.decision}>
        <Decisions run={run} standing={standing} />
      </Part>
      {run.restore === undefined ? null : <RestoreView restore={run.restore} />}
      {run.restore !== undefined ? null : (
        <Part title={drift ? plans.changesAccepted : plans.changes}>
          {changes.length === 0 ? <p>{words.noChanges}</p> : null}
          <ol>
            {changes.map((change) => (
              <Change key={`${changeName(change)} ${change.actions.join()}`} change={change} drift={drift} />
            ))}
          </ol>
        </Part>
      )}
      {outputs.length === 0 ? null : (
        <Part title={plans.outputs}>
          <ul>
            {outputs.map((output) => (
              <Value key={output.name} value={output} actions={output.actions} drift={false} />
            ))}
          </ul>
        </Part>
      )}
      {(run.checks ?? []).length === 0 ? null : (
        <Part title={words.checks}>
          <ul>
            {run.checks?.map(({ address, instances, status }) => (
              <li key={address}>
                {impact.checkStates[status]} <code>{visibleText(address)}</code>{" "}
                {instances.flatMap(({ problems = [] }) => problems.map(visibleText)).join(" ")}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {(run.diagnostics ?? []).length === 0 ? null : (
        <Part title={words.notes}>
          <ul>
            {run.diagnostics?.map(({ detail, severity, summary }, index) => (
              // Positions are stable keys, because a Run's diagnostics keep their order.
              <li key={index}>
                {severity}: {visibleText(summary)} {visibleText(detail ?? "")}
              </li>
            ))}
          </ul>
        </Part>
      )}
    </>
  )
}

/** The style of a saved page. It loads no resources. */
const style =
  "body{font:14px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;overflow-wrap:anywhere}dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}code{overflow-wrap:anywhere}"

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const save = (content: string, language: string, title: string, name: string): void => {
  const head = `<meta charset="utf-8"><title>${escaped(title)}</title><style>${style}</style>`
  const page = `<!doctype html><html lang="${language}"><head>${head}</head><body>${content}</body></html>`
  const url = URL.createObjectURL(new Blob([page], { type: "text/html" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Renders the page outside the app, prints or saves it, and then calls `onDone`. */
const Drawn = ({
  capsule,
  how,
  run,
  standing,
  onDone
}: OfRun & {
  readonly standing: RunApprovals | undefined
  readonly how: "print" | "save"
  readonly onDone: () => void
}) => {
  const language = useLanguage()
  const page = useRef<HTMLDivElement>(null)
  const give = useEffectEvent(() => {
    const title = `${capsule?.name ?? run.type} ${run.id}`
    if (how === "print") globalThis.print()
    else save(page.current?.innerHTML ?? "", language, title, `${title.replaceAll(/[^A-Za-z0-9_-]+/g, "-")}.html`)
    onDone()
  })
  useEffect(() => give(), [])
  return createPortal(
    <div ref={page} className="paper">
      <PlanPage run={run} capsule={capsule} standing={standing} />
    </div>,
    document.body
  )
}

/** Prints a plan, or saves it as a single page that works without network access. */
export const PaperActions = ({ capsule, run }: OfRun) => {
  const words = useWords(paperWords)
  const workspace = useWorkspace()
  const [how, setHow] = useState<"print" | "save" | undefined>(undefined)
  const standing = useQuery({ ...runApprovalsQuery(run.id), enabled: how !== undefined && run.type !== "drift_check" })
  // Waits for the names of the members before printing.
  const members = useQuery({ ...membersQuery(workspace.id), staleTime: 60_000 })
  const isReady = !members.isPending && (run.type === "drift_check" || !standing.isPending)
  return (
    <>
      <Button busy={how === "print"} onClick={() => setHow("print")}>
        {words.print}
      </Button>
      <Button icon="download" busy={how === "save"} onClick={() => setHow("save")}>
        {words.save}
      </Button>
      {how === undefined || !isReady ? null : (
        <Drawn how={how} run={run} capsule={capsule} standing={standing.data} onDone={() => setHow(undefined)} />
      )}
    </>
  )
}
