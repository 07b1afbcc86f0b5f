import { isEnded, isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { Ended } from "./Ended.tsx"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { capsulesQuery, outputsQuery, reportQuery, runsQuery, sourceQuery } from "../../api/Queries.ts"
import type { Capsule, Run } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { FailureReason } from "../../ui/FailureReason.tsx"
import { Loadable, Notice } from "../../ui/Feedback.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { CapsuleStatus, DriftStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { providerName, repositoryName } from "../../words/Format.ts"
import { leftKnownState } from "../../words/FailureEvidence.ts"
import { useWords } from "../../words/Words.ts"
import { OrphanedStateList } from "../left-over/OrphanedStateList.tsx"
import { DriftFound } from "../drift/DriftFound.tsx"
import { Decisions, Pin } from "./AutoUpdates.tsx"
import { RecentHistory } from "./CapsuleHistory.tsx"
import { ReAdoptButton } from "./ReAdopt.tsx"
import { lastDecisive, onlyCheckFailed } from "./ReAdoption.ts"
import { reAdoptionWords } from "./ReAdoptionWords.ts"
import { ImportConfirmation } from "./ImportConfirmation.tsx"
import { Outputs, OutputValue } from "./Outputs.tsx"
import { SyncBoth } from "./SyncBoth.tsx"
import { capsuleWords } from "./Words.ts"
import { Commit } from "../../ui/Commit.tsx"
import { PlanAgain } from "../run/PlanAgain.tsx"
import { credentialWords } from "./CredentialWords.ts"

/** The reasons why the Capsule is outdated: a newer commit, and Outputs that have changed since its apply. */
const StaleNotices = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const inputs = capsule.staleReasons.flatMap(({ kind, output, producerCapsuleId }) =>
    kind === "input" && producerCapsuleId !== undefined ? [{ output, producerCapsuleId }] : []
  )
  const capsules = useQuery({ ...capsulesQuery(workspace.id), enabled: inputs.length > 0 }).data ?? []
  if (!isInService(capsule.status)) return null
  return (
    <>
      {capsule.staleReasons.some(({ kind }) => kind === "restore") ? (
        <Notice tone="warn" title={words.staleRestoreTitle}>
          <p>{words.staleRestoreText}</p>
        </Notice>
      ) : null}
      {capsule.autoUpdate.pinnedBy === undefined && capsule.staleReasons.some(({ kind }) => kind === "commit") ? (
        <Notice tone="info" title={words.staleTitle}>
          <p>{words.staleText}</p>
          {capsule.staleReasons.map(({ because }) => (because === undefined ? null : <p key={because}>{because}.</p>))}
        </Notice>
      ) : null}
      {inputs.length === 0 ? null : (
        <Notice tone="info" title={words.staleInputTitle}>
          <p>{words.staleInputText}</p>
          <ul>
            {inputs.map(({ output, producerCapsuleId }) => {
              const producer = capsules.find(({ id }) => id === producerCapsuleId)
              return (
                <li key={`${producerCapsuleId} ${output ?? ""}`}>
                  {output === undefined ? words.staleInputAny : <code>{output}</code>} {words.staleInputOf}{" "}
                  {producer === undefined ? (
                    <code>{producerCapsuleId}</code>
                  ) : (
                    <Link
                      to="/w/$workspace/capsules/$capsuleId"
                      params={{ workspace: workspace.handle, capsuleId: producer.id }}
                    >
                      {producer.name}
                    </Link>
                  )}
                </li>
              )
            })}
          </ul>
        </Notice>
      )}
    </>
  )
}

/** Shown for a Capsule whose Run lacked a credential. Describes the credential and the people who can provide it. */
const MissingCredential = ({ capsule }: { readonly capsule: Capsule }) => {
  const text = useWords(credentialWords)
  const workspace = useWorkspace()
  const may = useMay()
  const wait = capsule.waitsForCredential
  if (wait === undefined) return null
  const mine = wait.turn !== "operator" && may(wait.turn)
  return (
    <Notice tone="warn" title={text.title(providerName(wait.provider))}>
      <p>{wait.reason}</p>
      <p>
        <strong>{mine ? text.yourTurn : text.turn[wait.turn]}</strong> {wait.turn === "member" ? text.renewed : null}{" "}
        <span className="muted">
          <Time at={wait.since} />
        </span>
      </p>
      <div className="form-actions">
        {mine && wait.turn === "admin" ? (
          <>
            <LinkButton
              small
              to="/w/$workspace/capsules/$capsuleId/$tab"
              params={{ workspace: workspace.handle, capsuleId: capsule.id, tab: "configuration" }}
            >
              {text.bind}
            </LinkButton>
            <LinkButton small to="/w/$workspace/connections" params={{ workspace: workspace.handle }}>
              {text.connections}
            </LinkButton>
          </>
        ) : null}
        {wait.turn === "member" ? <PlanAgain capsule={capsule} destroy={false} tone="plain" /> : null}
        <LinkButton small to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: wait.runId }}>
          {text.openRun}
        </LinkButton>
      </div>
    </Notice>
  )
}

const Alerts = ({ capsule, runs }: { readonly capsule: Capsule; readonly runs: ReadonlyArray<Run> }) => {
  const words = useWords(capsuleWords)
  const reAdoption = useWords(reAdoptionWords)
  const last = runs[0]
  const decided = lastDecisive(runs)
  const workspace = useWorkspace()
  const open =
    last === undefined ? null : (
      <LinkButton small to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: last.id }}>
        {words.openLastRun}
      </LinkButton>
    )
  return (
    <>
      <ImportConfirmation capsule={capsule} />
      {isEnded(capsule.status) ? null : capsule.status === "error" && onlyCheckFailed(runs) ? (
        <Notice tone="bad" title={reAdoption.checkFailedTitle}>
          <p>{reAdoption.checkFailedText}</p>
          {open}
          <ReAdoptButton small capsule={capsule} />
        </Notice>
      ) : capsule.runtimeSafety === "unknown" && (decided === undefined || !leftKnownState(decided)) ? (
        <Notice tone="warn" title={words.unknownTitle}>
          <p>{words.unknownText}</p>
          {open}
        </Notice>
      ) : capsule.status === "error" ? (
        <Notice tone="bad" title={words.errorTitle}>
          <p>{words.errorText}</p>
          {open}
        </Notice>
      ) : null}
      {capsule.laneError === undefined || isEnded(capsule.status) ? null : (
        <Notice tone="bad" title={words.laneFailedTitle}>
          <FailureReason error={capsule.laneError} />
          <LinkButton
            small
            to="/w/$workspace/sources/$sourceId"
            params={{ workspace: workspace.handle, sourceId: capsule.sourceId }}
          >
            {words.source}
          </LinkButton>
        </Notice>
      )}
      {capsule.driftStatus === "drifted" && !isEnded(capsule.status) ? <DriftFound capsule={capsule} /> : null}
      <OrphanedStateList capsule={capsule} />
      <StaleNotices capsule={capsule} />
      {isEnded(capsule.status) ? null : <MissingCredential capsule={capsule} />}
      <Ended capsule={capsule} />
    </>
  )
}

const autoUpdateState = (capsule: Capsule): "off" | "plan" | "apply" =>
  capsule.autoUpdate.enabled ? (capsule.autoUpdate.apply ? "apply" : "plan") : "off"

export const CapsuleOverview = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const outputs = useQuery(outputsQuery(capsule.id))
  const source = useQuery(sourceQuery(capsule.sourceId)).data
  const runsPage = useInfiniteQuery(runsQuery(workspace.id, { capsuleId: capsule.id, speculative: "false" }))
  const runs = runsPage.data?.pages[0]?.runs ?? []
  const revision = capsule.adoptedSourceRevision
  const hasState = capsule.currentStateVersionId !== undefined && isInService(capsule.status)
  const reportId = hasState ? capsule.compatibilityReportId : undefined
  const declared = useQuery({ ...reportQuery(reportId ?? ""), enabled: reportId !== undefined }).data?.outputs ?? []
  const hidden = declared.filter(({ sensitive }) => sensitive).map(({ name }) => name)
  return (
    <div className="split">
      <div className="split-main">
        <Alerts capsule={capsule} runs={runs} />
        <Pin capsule={capsule} />
        {capsule.autoUpdate.enabled && isInService(capsule.status) ? <SyncBoth capsule={capsule} /> : null}
        {capsule.publicEndpoint === undefined ? null : (
          <div className="endpoint">
            <span>{words.endpoint}</span>
            <OutputValue value={capsule.publicEndpoint} of={words.endpoint} />
          </div>
        )}
        <div id="outputs" className="stack" tabIndex={-1}>
          <Panel flush title={words.outputs}>
            <Loadable query={outputs}>
              {(found) => (
                <Outputs
                  capsule={capsule}
                  outputs={found}
                  hidden={hidden.filter((name) => found.every((output) => output.name !== name))}
                />
              )}
            </Loadable>
          </Panel>
        </div>
        <Decisions capsule={capsule} />
        <RecentHistory capsule={capsule} />
      </div>
      <aside className="split-side" aria-label={words.facts}>
        <Panel title={words.facts}>
          <Facts
            items={[
              [words.status, <CapsuleStatus key="status" status={capsule.status} />],
              [
                words.drift,
                <span key="drift" className="stack">
                  <DriftStatus status={capsule.driftStatus} />
                  {capsule.driftCheckedAt === undefined ? null : (
                    <small className="muted">
                      {words.checked} <Time at={capsule.driftCheckedAt} />
                    </small>
                  )}
                  {capsule.driftChecks.nextAt === undefined || isEnded(capsule.status) ? null : (
                    <small className="muted">
                      {words.nextCheck} <Time at={capsule.driftChecks.nextAt} />
                    </small>
                  )}
                </span>
              ],
              [
                words.revision,
                revision === undefined ? (
                  <span key="none" className="muted">
                    {words.notAdopted}
                  </span>
                ) : (
                  <Commit
                    key="commit"
                    gitAddress={source?.url}
                    id={revision.resolvedCommit}
                    description={capsule.adoptedCommitDescription}
                  />
                )
              ],
              [words.ref2, revision?.ref],
              [
                words.source,
                source === undefined ? undefined : (
                  <Link
                    key="source"
                    to="/w/$workspace/sources/$sourceId"
                    params={{ workspace: workspace.handle, sourceId: source.id }}
                  >
                    {repositoryName(source.url)}
                  </Link>
                )
              ],
              [words.module, <code key="module">{capsule.modulePath}</code>],
              [words.environment, capsule.environment],
              [
                words.autoUpdate,
                isEnded(capsule.status) ? undefined : words.autoUpdateStates[autoUpdateState(capsule)]
              ],
              [words.generation, String(capsule.currentStateGeneration)],
              [words.created, <Time key="created" at={capsule.createdAt} />]
            ]}
          />
        </Panel>
      </aside>
    </div>
  )
}
