import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { agentPoolsRelease } from "../../api/Endpoints.ts"
import { capsuleQuery, runQuery } from "../../api/Queries.ts"
import type { Capsule, Run } from "../../api/Types.ts"
import { useMay } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { AreaField, CheckField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { useWords } from "../../words/Words.ts"
import { agentRunWords } from "./AgentWords.ts"

type OnAgent = NonNullable<Run["agent"]>

interface Props {
  readonly run: Run
  readonly agent: OnAgent
  readonly capsule: Capsule | undefined
}

interface ReleaseProps {
  readonly run: Run
  readonly capsule: Capsule
  /** The fence of the claim that the person saw, so that another agent's claim is not released. */
  readonly fence: number
  readonly onClose: () => void
}

/**
 * Releases a Capsule before its lost agent's lease expires, after a person has confirmed that the agent's tool is no longer
 * running.
 */
const ReleaseFromAgent = ({ run, capsule, fence, onClose }: ReleaseProps) => {
  const words = useWords(agentRunWords)
  const queryClient = useQueryClient()
  const [isDead, setDead] = useState(false)
  const [reason, setReason] = useState("")
  // The fence at the time when the dialog opened, so that the dialog cannot release a later claim.
  const [seen] = useState(fence)
  const name = useTypedName(capsule.name)
  const release = useDecision({
    send: (signal) =>
      call(agentPoolsRelease, {
        signal,
        params: { runId: run.id },
        body: { fence: seen, toolIsDead: true, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) }
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: runQuery(run.id).queryKey })
      void queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      toast(words.released)
      onClose()
    }
  })
  return (
    <FormDialog
      title={words.dialogTitle(capsule.name)}
      action={words.releaseAction}
      tone="danger"
      incomplete={!isDead || !name.isTyped}
      change={release}
      onSubmit={() => release.mutate()}
      onClose={onClose}
    >
      <Notice tone="bad">{words.risk}</Notice>
      <p>{words.ends}</p>
      <CheckField
        label={words.isDead}
        helper={words.isDeadHelp}
        checked={isDead}
        onChange={(event) => setDead(event.target.checked)}
      />
      <AreaField
        label={words.reason}
        optional
        rows={2}
        maxLength={2000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {name.field}
    </FormDialog>
  )
}

/** Describes a silent agent: the work that continues, its deadline, and the people who may release the Run. */
const Unreachable = ({ run, agent, capsule, since }: Props & { readonly since: string }) => {
  const words = useWords(agentRunWords)
  const may = useMay()
  const [releasing, setReleasing] = useState(false)
  // If the agent has no state, the Run changes nothing and svc soon abandons it.
  const mayGoOn = agent.state !== undefined
  return (
    <Notice tone="warn" title={words.unreachable(agent.name)}>
      <p>
        {words.since} <Time at={since} />
      </p>
      <p>{mayGoOn ? words.applyGoesOn : words.planGivenUp}</p>
      {agent.givenUpAt === undefined ? null : (
        <p>
          {words.givenUpAt} <Time at={agent.givenUpAt} />
        </p>
      )}
      {!mayGoOn || capsule === undefined ? null : may("admin") ? (
        <div className="form-actions">
          <Button small onClick={() => setReleasing(true)}>
            {words.release}
          </Button>
        </div>
      ) : (
        <p className="muted">{words.adminOnly}</p>
      )}
      {releasing && capsule !== undefined ? (
        <ReleaseFromAgent run={run} fence={agent.fence} capsule={capsule} onClose={() => setReleasing(false)} />
      ) : null}
    </Notice>
  )
}

/** The server receives the agent's messages, but the agent does not receive the responses. */
const Unanswered = ({ name, since }: { readonly name: string; readonly since: string }) => {
  const words = useWords(agentRunWords)
  return (
    <Notice tone="warn" title={words.unanswered(name)}>
      <p>
        {words.unansweredSince} <Time at={since} />
      </p>
      <p>{words.unansweredMeans}</p>
    </Notice>
  )
}

/** The age of the state on the server, and whether the agent has newer changes. */
const Saved = ({ state, silent }: { readonly state: NonNullable<OnAgent["state"]>; readonly silent: boolean }) => {
  const words = useWords(agentRunWords)
  const { newestSerial, savedAt, savedSerial } = state
  const isBehind = newestSerial !== undefined && (savedSerial === undefined || newestSerial > savedSerial)
  return (
    <Panel
      title={words.saved}
      beside={
        <span className="muted">
          {savedAt === undefined ? (
            words.savedNone
          ) : (
            <>
              <Time at={savedAt} />
              {savedSerial === undefined ? null : ` · ${words.serial(savedSerial)}`}
            </>
          )}
        </span>
      }
    >
      <p className={isBehind || silent ? "" : "muted"}>
        {isBehind
          ? savedSerial === undefined
            ? words.atRiskFirst
            : words.atRisk(newestSerial)
          : silent
            ? words.atRiskUnknown
            : words.safe}
      </p>
    </Panel>
  )
}

/** Known facts about the agent that executes a Run. */
export const AgentStanding = ({ run, capsule }: Pick<Props, "run" | "capsule">) => {
  const { agent, agentUnreachableSince: since } = run
  if (agent === undefined || run.status !== "running") return null
  return (
    <>
      {since === undefined ? null : <Unreachable run={run} agent={agent} capsule={capsule} since={since} />}
      {agent.unansweredSince === undefined ? null : <Unanswered name={agent.name} since={agent.unansweredSince} />}
      {agent.state === undefined ? null : <Saved state={agent.state} silent={since !== undefined} />}
    </>
  )
}
