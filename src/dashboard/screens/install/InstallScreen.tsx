import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useRouterState } from "@tanstack/react-router"
import { lazy, Suspense, useEffect, useId, useMemo, useRef, useState, type ReactNode } from "react"
import { installConfigQuery, reportQuery } from "../../api/Queries.ts"
import { whenReachable } from "../../api/Reachability.ts"
import type { CompatibilityReport, SourceSnapshot } from "../../api/Types.ts"
import { type HandOff, rememberHandOff } from "../../app/HandOffs.ts"
import { useMay, useOptionalWorkspace, useWorkspace } from "../../app/Workspace.ts"
import { answersOf, fieldsOf, formModel, keepable, type Draft } from "../../forms/FormModel.ts"
import { VariableForm } from "../../forms/VariableForm.tsx"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { Empty, Notice, Skeleton } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { CommitLine } from "../../ui/Commit.tsx"
import { Page } from "../../ui/Layout.tsx"
import { repositoryName } from "../../words/Format.ts"
import { useBilingual, useWords } from "../../words/Words.ts"
import { ConnectionsStep, requirementKey, requirementName, unboundRequirements } from "./ConnectionsStep.tsx"
import { useInstallDraft } from "./Draft.ts"
import { dependenciesOf, FromCapsules, type Taken } from "./FromCapsules.tsx"
import { type InstallLink, readInstallLink } from "./InstallLink.ts"
import { ModuleStep } from "./ModuleStep.tsx"
import { useSnapshot } from "./ReadSource.ts"
import { buildField, planButton, ReviewStep } from "./ReviewStep.tsx"
import { SourceStep } from "./SourceStep.tsx"
import { TakeOver, type TakenState } from "./TakeOver.tsx"
import { installWords } from "./Words.ts"
import { Icon } from "../../ui/Icon.tsx"

interface StepProps {
  readonly number: number
  readonly title: string
  readonly state: "done" | "open" | "later"
  /**
   * The choice made in a finished step. The step is collapsed to show only this choice, and collapses again when the choice
   * changes.
   */
  readonly result?: { readonly id: string; readonly shown: ReactNode } | undefined
  readonly children?: ReactNode
}

const Step = ({ number, title, state, result, children }: StepProps) => {
  const words = useWords(installWords)
  const body = useId()
  const [opened, setOpened] = useState<string | undefined>(undefined)
  const isFolded = state === "done" && result !== undefined && opened !== result.id
  return (
    <section className={`install-step install-${state}`} aria-current={state === "open" ? "step" : undefined}>
      <header>
        <span className="install-number" aria-hidden="true">
          {state === "done" ? <Icon name="check" /> : number}
        </span>
        <h2>{title}</h2>
        {state === "done" && result !== undefined ? (
          <>
            <span className="install-result">{result.shown}</span>
            <Button
              small
              aria-expanded={!isFolded}
              aria-controls={body}
              aria-label={`${isFolded ? words.change : words.keep}: ${title}`}
              onClick={() => setOpened(isFolded ? result.id : undefined)}
            >
              {isFolded ? words.change : words.keep}
            </Button>
          </>
        ) : null}
      </header>
      {children === undefined || children === null ? null : (
        <div className="install-body" id={body} hidden={isFolded}>
          {children}
        </div>
      )}
    </section>
  )
}

interface ProblemAt {
  /** The `name` of the form control. */
  readonly name: string
  readonly label: string
}

const controlOf = (name: string): HTMLElement | undefined => {
  const found = document.getElementsByName(name)[0]
  return found instanceof HTMLElement ? found : undefined
}

/** The problems that prevent the plan, each with a link to its field. */
const Problems = ({ problems }: { readonly problems: ReadonlyArray<ProblemAt> }) => {
  const words = useWords(installWords)
  return (
    <Notice tone="bad" title={words.fixThese}>
      <ul className="plain-list">
        {problems.map(({ label, name }) => (
          <li key={name}>
            <a
              href={`#${encodeURIComponent(name)}`}
              onClick={(event) => {
                event.preventDefault()
                controlOf(name)?.focus()
              }}
            >
              {label}
            </a>
          </li>
        ))}
      </ul>
    </Notice>
  )
}

const ReadFailure = lazy(whenReachable(async () => ({ default: (await import("./ReadFailure.tsx")).ReadFailure })))

// Loaded on demand, because it contains the rules for documents with source options.
const SourceOptionsChooser = lazy(
  whenReachable(async () => ({
    default: (await import("../source-options/SourceOptionsChooser.tsx")).SourceOptionsChooser
  }))
)

interface FlowProps {
  readonly link: InstallLink
}

/**
 * Returns true if the focus has to move. After the repository has been read, the step is collapsed, which hides the button
 * that the person pressed.
 */
const hasLostFocus = (): boolean => {
  const { activeElement } = document
  return (
    activeElement === null ||
    activeElement === document.body ||
    activeElement.closest(".install-step") === document.querySelector(".install-step")
  )
}

const Configured = ({
  state,
  handOff,
  isAwaited,
  snapshot,
  report
}: {
  readonly handOff: HandOff | undefined
  /** True if the person started this read, and is therefore waiting for the next field. */
  readonly isAwaited: boolean
  readonly state: ReturnType<typeof useInstallDraft>
  readonly snapshot: SourceSnapshot
  readonly report: CompatibilityReport
}) => {
  const words = useWords(installWords)
  const { draft, change, forget } = state
  const config = useQuery({
    ...installConfigQuery(report.installConfigId ?? ""),
    enabled: report.installConfigId !== undefined
  }).data
  const [taken, setTaken] = useState<ReadonlyArray<Taken>>([])
  const [takenState, setTakenState] = useState<TakenState | undefined>(undefined)
  const may = useMay()
  const whole = useMemo(() => formModel(report.variables, config?.variables, config?.presentation), [report, config])
  // Omits inputs that get their value from another Capsule.
  const model = useMemo(() => {
    const given = new Set(taken.map(({ input }) => input))
    const asked = report.variables.filter(({ name }) => !given.has(name))
    return formModel(asked, config?.variables, config?.presentation)
  }, [report, config, taken])
  const fields = useMemo(() => fieldsOf(model), [model])
  const [secrets, setSecrets] = useState<Draft>({})
  // After each attempt to create the plan, the first field with a problem gets the focus.
  const [attempts, setAttempts] = useState(0)
  const tried = attempts > 0
  const [buildRead, setBuildRead] = useState(false)
  const say = useBilingual()
  const form = useId()
  const typed = { ...draft.answers, ...secrets }
  const answers = answersOf(fields, typed)
  const problems: ReadonlyArray<ProblemAt> = [
    ...(draft.name.trim() === "" ? [{ name: "capsule-name", label: words.name }] : []),
    ...(draft.environment.trim() === "" ? [{ name: "capsule-environment", label: words.environment }] : []),
    ...fields.filter(({ name }) => answers.problems.has(name)).map(({ label, name }) => ({ name, label: say(label) })),
    ...unboundRequirements(report.rootProviderRequirements, draft.bindings).map((requirement) => ({
      name: `connection ${requirementKey(requirement)}`,
      label: words.connectionFor(requirementName(requirement))
    })),
    ...(config?.sourceBuild === undefined || buildRead ? [] : [{ name: buildField, label: words.buildAllow }])
  ]
  const ready = problems.length === 0
  const [first] = problems
  const firstProblem = useRef(first?.name)
  useEffect(() => {
    firstProblem.current = first?.name
  })
  useEffect(() => {
    if (!isAwaited || !hasLostFocus()) return
    const next = firstProblem.current === undefined ? undefined : controlOf(firstProblem.current)
    ;(next ?? document.getElementById(planButton))?.focus()
  }, [isAwaited])
  useEffect(() => {
    if (attempts > 0 && firstProblem.current !== undefined) controlOf(firstProblem.current)?.focus()
  }, [attempts])
  const onChange = (name: string, value: string) => {
    const next = { ...typed, [name]: value }
    const kept = keepable(fields, next)
    change({ answers: kept })
    setSecrets(Object.fromEntries(Object.entries(next).filter(([each]) => !Object.hasOwn(kept, each))))
  }
  return (
    <>
      <Step number={3} title={words.steps.inputs} state="open">
        <div className="form-pair">
          <TextField
            label={words.name}
            helper={words.nameHelp}
            name="capsule-name"
            form={form}
            required
            maxLength={80}
            error={tried && draft.name.trim() === "" ? words.nameMissing : undefined}
            value={draft.name}
            onChange={(event) => change({ name: event.target.value })}
          />
          <TextField
            label={words.environment}
            name="capsule-environment"
            form={form}
            error={tried && draft.environment.trim() === "" ? words.environmentMissing : undefined}
            required
            maxLength={40}
            value={draft.environment}
            onChange={(event) => change({ environment: event.target.value })}
          />
        </div>
        <VariableForm
          form={form}
          model={model}
          draft={typed}
          problems={tried ? answers.problems : new Map()}
          onChange={onChange}
        />
        {may("admin") && whole.groups.length + whole.advanced.length > 0 ? (
          <FromCapsules inputs={fieldsOf(whole).map(({ name }) => name)} taken={taken} onChange={setTaken} />
        ) : null}
        {may("owner") ? <TakeOver taken={takenState} onChange={setTakenState} /> : null}
      </Step>
      <Step number={4} title={words.steps.connections} state="open">
        <ConnectionsStep
          requirements={report.rootProviderRequirements}
          bindings={draft.bindings}
          isTried={tried}
          onChange={(bindings) => change({ bindings })}
        />
      </Step>
      <Step number={5} title={words.steps.review} state="open">
        {tried && !ready ? <Problems problems={problems} /> : null}
        <ReviewStep
          draft={draft}
          snapshot={snapshot}
          report={report}
          config={config}
          values={answers.values}
          dependencies={dependenciesOf(taken)}
          taken={takenState}
          buildRead={buildRead}
          onBuildRead={setBuildRead}
          ready={ready}
          form={form}
          onTried={() => setAttempts((count) => count + 1)}
          onDone={({ capsuleId }) => {
            if (handOff !== undefined && capsuleId !== undefined) rememberHandOff(capsuleId, handOff)
            forget()
          }}
        />
      </Step>
    </>
  )
}

const Flow = ({ link }: FlowProps) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  const state = useInstallDraft(link, workspace.id)
  const { draft, change } = state
  const { run, snapshot } = useSnapshot(draft)
  const [isAwaited, setAwaited] = useState(false)
  const report = useQuery({ ...reportQuery(draft.reportId ?? ""), enabled: draft.reportId !== undefined }).data
  const reading = run?.status === "queued" || run?.status === "running"
  const usable = report !== undefined && report.status !== "unsupported" && snapshot !== undefined
  return (
    <div className="install">
      {link.handOff === undefined ? null : (
        <Notice tone="info">
          <p>
            {words.handOff(link.handOff.product)} <code>{link.handOff.returnUri}</code>
          </p>
        </Notice>
      )}
      <Step
        number={1}
        title={words.steps.source}
        state={snapshot === undefined ? "open" : "done"}
        result={
          snapshot === undefined || !usable
            ? undefined
            : {
                id: snapshot.id,
                shown: (
                  <>
                    {repositoryName(snapshot.url)} <code>{snapshot.ref}</code>{" "}
                    <CommitLine id={snapshot.resolvedCommit} description={snapshot.commitDescription} />
                  </>
                )
              }
        }
      >
        <SourceStep draft={draft} change={change} reading={reading} onRead={() => setAwaited(true)} />
        {run?.status === "failed" || run?.status === "cancelled" ? (
          <Suspense fallback={null}>
            <ReadFailure run={run} />
          </Suspense>
        ) : null}
      </Step>
      <Step
        number={2}
        title={words.steps.module}
        state={snapshot === undefined ? "later" : usable ? "done" : "open"}
        result={
          report?.status === "ready" && report.manifest.status !== "rejected"
            ? {
                id: report.id,
                shown: (
                  <>
                    <code>{report.modulePath}</code> {words.report.ready}
                  </>
                )
              }
            : undefined
        }
      >
        {snapshot === undefined ? null : (
          <ModuleStep key={snapshot.id} draft={draft} change={change} snapshot={snapshot} wanted={link.modulePath} />
        )}
      </Step>
      {usable ? (
        <Configured
          key={report.id}
          state={state}
          isAwaited={isAwaited}
          handOff={link.handOff}
          snapshot={snapshot}
          report={report}
        />
      ) : (
        <>
          <Step number={3} title={words.steps.inputs} state="later" />
          <Step number={4} title={words.steps.connections} state="later" />
          <Step number={5} title={words.steps.review} state="later" />
        </>
      )}
    </div>
  )
}

interface Place {
  readonly pathname: string
  readonly searchStr: string
}

/** Returns this page's query until the next page has loaded, because the next page's query would produce an empty form. */
const searchHere = ({
  location,
  resolvedLocation
}: {
  readonly location: Place
  readonly resolvedLocation?: Place | undefined
}): string => (/^\/(?:new|install)$/.test(location.pathname) ? location : (resolvedLocation ?? location)).searchStr

export const InstallScreen = () => {
  const words = useWords(installWords)
  const workspace = useOptionalWorkspace()
  const navigate = useNavigate()
  const search = useRouterState({ select: searchHere })
  const reading = useMemo(() => readInstallLink(search, window.location.origin), [search])
  if (workspace === undefined) {
    return <Empty whole icon="people" title={words.noWorkspace} action={<LinkButton to="/">OK</LinkButton>} />
  }
  return (
    <Page title={words.title} about={words.about} narrow>
      {reading.kind === "refused" ? (
        <Notice tone="bad" title={words.linkTitle}>
          <p>{words.linkProblems[reading.problem]}</p>
          <p>{words.linkText}</p>
          <Button small onClick={() => void navigate({ to: "/new" })}>
            {words.fillByHand}
          </Button>
        </Notice>
      ) : (
        <MemberOnly key={workspace.id}>
          {reading.kind === "options" ? (
            <Suspense fallback={<Skeleton rows={3} />}>
              <SourceOptionsChooser key={search} link={reading.link} />
            </Suspense>
          ) : (
            <Flow key={search} link={reading.kind === "link" ? reading.link : {}} />
          )}
        </MemberOnly>
      )}
    </Page>
  )
}

const MemberOnly = ({ children }: { readonly children: React.ReactNode }) => {
  const words = useWords(installWords)
  const may = useMay()
  return may("member") ? children : <Notice tone="info">{words.needsMember}</Notice>
}
