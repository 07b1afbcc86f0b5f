import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { leftOverStatesAdopt, leftOverStatesDiscard } from "../../api/Endpoints.ts"
import { capsuleQuery, leftOverStatesQuery } from "../../api/Queries.ts"
import type { Capsule, OrphanedState } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { bytes } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { orphanedStateWords } from "./OrphanedStateWords.ts"

interface OrphanedStateEntryProps {
  readonly capsule: Capsule
  readonly leftOver: OrphanedState
}

interface DecisionProps {
  readonly capsule: Capsule
  readonly leftOver: OrphanedState
  readonly onClose: () => void
}

interface ConfirmProps extends DecisionProps {
  readonly title: string
  readonly action: string
  readonly done: string
  readonly decide: (signal: AbortSignal) => Promise<unknown>
  readonly children: ReactNode
}

/** Asks the person to type the Capsule's name before an irreversible action. */
const Confirm = ({ action, capsule, children, decide, done, onClose, title }: ConfirmProps) => {
  const queryClient = useQueryClient()
  const name = useTypedName(capsule.name)
  // Besides the decision's own refresh, refreshes the Capsule's states, Outputs and orphaned states.
  const refresh = () => queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
  const decision = useDecision({
    send: decide,
    onSuccess: async () => {
      await refresh()
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      toast(done)
      onClose()
    },
    // After a refusal, reads the obstacles and the guard again.
    onError: () => void refresh()
  })
  return (
    <FormDialog
      title={title}
      action={action}
      tone="danger"
      incomplete={!name.isTyped}
      change={decision}
      onSubmit={() => decision.mutate()}
      onClose={onClose}
    >
      {children}
      {name.field}
    </FormDialog>
  )
}

const AdoptDialog = (props: DecisionProps) => {
  const text = useWords(orphanedStateWords)
  const { capsule, leftOver } = props
  const [key] = useState(newIdempotencyKey)
  const decide = (signal: AbortSignal) =>
    call(leftOverStatesAdopt, {
      signal,
      params: { capsuleId: capsule.id, leftOverStateId: leftOver.id },
      body: {
        confirm: capsule.name,
        expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
      },
      idempotencyKey: key
    })
  return (
    <Confirm {...props} title={text.adoptTitle(capsule.name)} action={text.adopt} done={text.adopted} decide={decide}>
      <p>{text.adoptText}</p>
    </Confirm>
  )
}

const DiscardDialog = (props: DecisionProps) => {
  const text = useWords(orphanedStateWords)
  const { capsule, leftOver } = props
  const decide = (signal: AbortSignal) =>
    call(leftOverStatesDiscard, { signal, params: { capsuleId: capsule.id, leftOverStateId: leftOver.id } })
  return (
    <Confirm {...props} title={text.discardTitle} action={text.discard} done={text.discarded} decide={decide}>
      <p>{text.discardText}</p>
      <CopyText text={`svc admin left-over-states download ${leftOver.id} --out ${leftOver.id}.tfstate`} />
    </Confirm>
  )
}

const OrphanedStateEntry = ({ capsule, leftOver }: OrphanedStateEntryProps) => {
  const text = useWords(orphanedStateWords)
  const workspace = useWorkspace()
  const may = useMay()
  const [asking, setAsking] = useState<"adopt" | "discard">()
  const problems = leftOver.adoptionProblems
  const close = () => setAsking(undefined)
  return (
    <Notice tone="warn" title={text.title}>
      <p>
        {text.reasons[leftOver.reason]} {text.about}
      </p>
      <p className="muted">
        {text.facts(leftOver.serial === undefined ? text.unknown : String(leftOver.serial), bytes(leftOver.sizeBytes))}
        {leftOver.resourceCount === undefined ? null : ` · ${text.resources(leftOver.resourceCount)}`} ·{" "}
        <Time at={leftOver.createdAt} /> ·{" "}
        <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: leftOver.runId }}>
          {text.run}
        </Link>
      </p>
      {problems.length === 0 ? null : (
        <>
          <p>{text.inTheWay}</p>
          <ul>
            {problems.map(({ code, message }) => (
              <li key={code} lang="en">
                {message}
              </li>
            ))}
          </ul>
        </>
      )}
      {may("owner") ? (
        <div className="form-actions">
          {problems.length > 0 ? null : (
            <Button small onClick={() => setAsking("adopt")}>
              {text.adopt}
            </Button>
          )}
          <Button small onClick={() => setAsking("discard")}>
            {text.discard}
          </Button>
        </div>
      ) : (
        <p className="muted">{text.ownerOnly}</p>
      )}
      {asking === "adopt" ? <AdoptDialog capsule={capsule} leftOver={leftOver} onClose={close} /> : null}
      {asking === "discard" ? <DiscardDialog capsule={capsule} leftOver={leftOver} onClose={close} /> : null}
    </Notice>
  )
}

/** The orphaned states of a Capsule's applies, or of one apply, that have been neither adopted nor discarded. */
export const OrphanedStateList = ({ capsule, runId }: { readonly capsule: Capsule; readonly runId?: string }) => {
  const leftOvers = useQuery(leftOverStatesQuery(capsule.id)).data ?? []
  return leftOvers.map((leftOver) =>
    leftOver.status !== "kept" || (runId !== undefined && leftOver.runId !== runId) ? null : (
      <OrphanedStateEntry key={leftOver.id} capsule={capsule} leftOver={leftOver} />
    )
  )
}
