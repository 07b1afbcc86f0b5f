import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import type { SourceChanges } from "../../../../schema/records/SourceChanges.ts"
import { visibleText } from "../../../../schema/records/VisibleText.ts"
import { commentsQuery } from "../../api/CommentQueries.ts"
import { sourceChangesQuery } from "../../api/PlanQueries.ts"
import { sourceQuery } from "../../api/Queries.ts"
import type { Capsule, GrantedUse, Run } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { SourceCommit } from "../../app/SourceCommit.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { CommitLine } from "../../ui/Commit.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { FaultNotice, Skeleton } from "../../ui/Feedback.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { duration, providerName, repositoryName, shortDigest } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { usedFrom } from "../connections/UsedFrom.ts"
import { planBasisWords } from "./PlanBasisWords.ts"
import { runWords } from "./Words.ts"

const Source = ({ id }: { readonly id: string }) => {
  const workspace = useWorkspace()
  const { data } = useQuery(sourceQuery(id))
  return (
    <Link to="/w/$workspace/sources/$sourceId" params={{ workspace: workspace.handle, sourceId: id }}>
      {data === undefined ? id : repositoryName(data.url)}
    </Link>
  )
}

/**
 * The Connection that the Run uses, the rule that selected the Connection, and facts about the Connection that reviewers
 * need.
 */
const Use = ({ use }: { readonly use: GrantedUse }) => {
  const words = useWords(runWords)
  const { refs } = use.rule
  return (
    <small>
      {words.connectionUse(use.connectionName, words.useRoles[usedFrom(use.rule)])}
      {refs === undefined ? "" : ` · ${refs.join(", ")}`}
      {use.automatic ? ` · ${words.automaticUse}` : ""}
      {use.basis === "other_ref" ? <strong className="bad-text"> · {words.otherRef(use.ref ?? "?")}</strong> : null}
    </small>
  )
}

/** The private data that an unreviewed ref's code could read, and the person who permitted this. */
const Opened = ({ use }: { readonly use: NonNullable<Run["openedForRef"]> }) => {
  const words = useWords(runWords)
  const actorName = useActorName()
  const who = use.openedBy === undefined ? "svc" : actorName(use.openedBy)
  return (
    <strong className="bad-text">
      {words.openedFor(use.ref, use.opened.map((kind) => words.privateData[kind]).join(words.listed), who)}
      {use.basis === "rule" ? ` · ${words.openedByRule}` : ""}
    </strong>
  )
}

const Providers = ({ run }: { readonly run: Run }) => {
  const words = useWords(runWords)
  return (
    <ul className="plain-list">
      {(run.providerResolutions ?? []).map((resolution) => (
        <li key={`${resolution.moduleLocalName}.${resolution.childAlias ?? ""}`}>
          {providerName(resolution.provider)}
          <span className={resolution.status === "resolved_provider_connection" ? "muted" : "bad-text"}>
            {" "}
            {resolution.status === "resolved_provider_connection" && resolution.connectionId === undefined
              ? words.noConnectionNeeded
              : words.resolution[resolution.status]}
          </span>
          {resolution.use === undefined ? null : (
            <>
              {" "}
              <Use use={resolution.use} />
            </>
          )}
          {resolution.blockedReason === undefined ? null : (
            <small className="bad-text">{resolution.blockedReason}</small>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The effects of the operator's configuration on this Run: fixed inputs, and checks after the apply. */
const Operator = ({ config }: { readonly config: NonNullable<Run["operatorConfig"]> }) => {
  const words = useWords(runWords)
  return (
    <>
      {config.name ?? words.operatorDefault}
      {config.variables.length === 0 ? null : <small>{words.operatorSets(config.variables.join(", "))}</small>}
      {config.postApply.map((check) => (
        <small key={check.name}>
          {check.name}:{" "}
          {words.checkPlanned(check.target, check.path ?? "", check.status.join(", "), check.timeoutSeconds)}
        </small>
      ))}
    </>
  )
}

/** The addresses to which people may be redirected after signing in to the Capsule's application. */
const SignIn = ({ signIn }: { readonly signIn: NonNullable<Run["signIn"]> }) => {
  const words = useWords(runWords)
  return (
    <>
      {words.signInReturns} <code>{signIn.redirectUri}</code>
      <small>
        {words.signOutReturns}{" "}
        {signIn.postLogoutRedirectUris.map((uri) => (
          <code key={uri}>{uri} </code>
        ))}
      </small>
    </>
  )
}

const Checks = ({ run }: { readonly run: Run }) => {
  const words = useWords(runWords)
  return (
    <ul className="plain-list">
      {(run.postApply ?? []).map(({ name, reason, status }) => (
        <li key={name}>
          {name} <span className={status === "failed" ? "bad-text" : "muted"}>{words.checkStates[status]}</span>
          {reason === undefined ? null : <small className="bad-text">{reason}</small>}
        </li>
      ))}
    </ul>
  )
}

const FileList = ({ changes }: { readonly changes: typeof SourceChanges.Encoded }) => {
  const words = useWords(planBasisWords)
  if (changes.status !== "compared") return <p className="muted">{words.fileStates[changes.status]}</p>
  return (
    <>
      {changes.since === undefined ? null : (
        <p>
          <span className="muted">{words.since}</span>{" "}
          <CommitLine id={changes.since.resolvedCommit} description={changes.since.commitDescription} />
        </p>
      )}
      <p>{changes.fileCount === 0 ? words.noFiles : words.fileCount(changes.fileCount)}</p>
      {changes.scope === "source" ? <p className="muted">{words.ofSource}</p> : null}
      <ul className="plain-list">
        {changes.files.map(({ change, path }) => (
          <li key={path}>
            <code>{visibleText(path)}</code> <span className="muted">{words.fileChange[change]}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The module files that a plan's commit changed, fetched on request. */
const ChangedFiles = ({ runId }: { readonly runId: string }) => {
  const words = useWords(planBasisWords)
  const [isOpen, setOpen] = useState(false)
  const { data, error } = useQuery({ ...sourceChangesQuery(runId), enabled: isOpen })
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} data-testid="changed-files">
      <summary>{words.showFiles}</summary>
      {!isOpen ? null : data !== undefined ? (
        <FileList changes={data} />
      ) : error === null ? (
        <Skeleton rows={2} />
      ) : (
        <FaultNotice error={error} />
      )}
    </details>
  )
}

/** Where this Run came from, its versions and its settings. */
export const RunFacts = ({ run, capsule }: { readonly run: Run; readonly capsule: Capsule | undefined }) => {
  const words = useWords(runWords)
  const terms = useWords(vocabulary)
  const basis = useWords(planBasisWords)
  const { data: comments } = useQuery(commentsQuery(run.id))
  const language = useLanguage()
  const workspace = useWorkspace()
  const actorName = useActorName()
  const runLink = (id: string | undefined, label: string): ReactNode =>
    id === undefined ? undefined : (
      <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: id }}>
        {label}
      </Link>
    )
  const sourceId = run.sourceId ?? capsule?.sourceId
  const took =
    run.startedAt === undefined || run.finishedAt === undefined
      ? undefined
      : duration(language, Date.parse(run.finishedAt) - Date.parse(run.startedAt))
  return (
    <Panel title={words.facts}>
      <Facts
        items={[
          [
            words.capsule,
            capsule === undefined ? undefined : (
              <Link
                key="capsule"
                to="/w/$workspace/capsules/$capsuleId"
                params={{ workspace: workspace.handle, capsuleId: capsule.id }}
              >
                {capsule.name} <span className="muted">{capsule.environment}</span>
              </Link>
            )
          ],
          [
            words.startedBy,
            <span key="started">
              {words.who(run.createdBy === undefined ? "svc" : actorName(run.createdBy), words.how[run.trigger])}{" "}
              <Time at={run.createdAt} />
            </span>
          ],
          [words.purpose, run.purpose === undefined ? undefined : words.purposes[run.purpose]],
          [words.source, sourceId === undefined ? undefined : <Source key="source" id={sourceId} />],
          [
            words.commit,
            run.resolvedCommit === undefined ? undefined : (
              <SourceCommit
                key="commit"
                sourceId={sourceId}
                id={run.resolvedCommit}
                description={run.commitDescription}
              />
            )
          ],
          [
            words.newerCommit,
            run.newerCommit === undefined ? undefined : (
              <strong key="newer" className="bad-text">
                {words.newerCommitUse(run.newerCommit.ref, run.newerCommit.resolvedCommit.slice(0, 12))}
              </strong>
            )
          ],
          [
            words.openedForRef,
            run.openedForRef === undefined ? undefined : <Opened key="opened" use={run.openedForRef} />
          ],
          [
            basis.files,
            // Before the first apply, there is no applied commit to compare with.
            isPlan(run.type) && run.resolvedCommit !== undefined && run.baseStateGeneration !== 0 ? (
              <ChangedFiles key="files" runId={run.id} />
            ) : undefined
          ],
          [words.planRun, runLink(run.planRunId, terms.runType.plan)],
          [
            words.update,
            // A drift check of the whole Workspace also has a group, but the group has no dependencies to show.
            run.runGroupId === undefined || run.type === "drift_check" ? undefined : (
              <Link
                key="update"
                to="/w/$workspace/updates/$groupId"
                params={{ workspace: workspace.handle, groupId: run.runGroupId }}
              >
                {words.openUpdate}
              </Link>
            )
          ],
          [
            words.discussion,
            <a key="discussion" href="#discussion">
              {words.comments(comments?.length ?? 0)}
            </a>
          ],
          [words.approvedBy, run.approvedBy === undefined ? undefined : actorName(run.approvedBy)],
          [words.took, took],
          [
            words.tool,
            run.tool === undefined
              ? undefined
              : `${run.tool.name === "opentofu" ? "OpenTofu" : "Terraform"} ${run.tool.version}`
          ],
          [words.pool, run.pool],
          [
            words.agent,
            run.pool === undefined
              ? undefined
              : (run.agent?.name ?? (run.agentId === undefined ? undefined : <code key="agent">{run.agentId}</code>))
          ],
          [words.profile, run.profile === undefined ? undefined : <code key="profile">{run.profile}</code>],
          [
            words.operatorConfig,
            run.operatorConfig === undefined ? undefined : <Operator key="operator" config={run.operatorConfig} />
          ],
          [words.signIn, run.signIn === undefined ? undefined : <SignIn key="sign-in" signIn={run.signIn} />],
          [words.checks, (run.postApply ?? []).length === 0 ? undefined : <Checks key="checks" run={run} />],
          [words.sandbox, run.isolation === undefined ? undefined : words.sandboxes[run.isolation]],
          [words.network, run.network === undefined ? undefined : words.networks[run.network]],
          [
            words.providers,
            (run.providerResolutions ?? []).length === 0 ? undefined : <Providers key="providers" run={run} />
          ],
          [words.basedOn, run.baseStateGeneration === undefined ? undefined : String(run.baseStateGeneration)],
          [
            words.planDigest,
            run.planDigest === undefined ? undefined : (
              <CopyText key="digest" text={run.planDigest} shown={shortDigest(run.planDigest)} />
            )
          ],
          [
            words.changeDigest,
            run.changeDigest === undefined ? undefined : (
              <CopyText key="change" text={run.changeDigest} shown={shortDigest(run.changeDigest)} />
            )
          ],
          [
            words.lockDigest,
            run.providerLockDigest === undefined ? undefined : (
              <CopyText key="lock" text={run.providerLockDigest} shown={shortDigest(run.providerLockDigest)} />
            )
          ],
          [words.attempt, run.attempt > 1 ? String(run.attempt) : undefined],
          ["Id", <CopyText key="id" text={run.id} shown={`${run.id.slice(0, 12)}…`} />]
        ]}
      />
    </Panel>
  )
}
