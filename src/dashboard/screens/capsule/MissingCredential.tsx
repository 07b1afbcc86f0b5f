import type { Capsule } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { Time } from "../../ui/Time.tsx"
import { providerName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { PlanAgain } from "../run/PlanAgain.tsx"
import { credentialWords } from "./CredentialWords.ts"

/** Shown for a Capsule whose Run lacked a credential. Describes the credential and the people who can provide it. */
export const MissingCredential = ({ capsule }: { readonly capsule: Capsule }) => {
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
