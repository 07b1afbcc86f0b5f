import { useState } from "react"
import { call } from "../../api/Call.ts"
import { connectionsStartGitHubApp } from "../../api/Endpoints.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import { gitHubAppWords } from "./GitHubAppWords.ts"

/**
 * Starts the registration of a GitHub App at this address. The API redirects back to the Connections page when the
 * registration is complete.
 */
export const GitHubAppStart = ({ displayName, origin }: { readonly displayName: string; readonly origin: string }) => {
  const words = useWords(gitHubAppWords)
  const workspace = useWorkspace()
  const [organization, setOrganization] = useState("")
  const start = useDecision({
    send: (signal) =>
      call(connectionsStartGitHubApp, {
        signal,
        body: {
          workspaceId: workspace.id,
          origin: origin.trim(),
          ...(organization.trim() === "" ? {} : { organization: organization.trim() }),
          ...(displayName.trim() === "" ? {} : { displayName: displayName.trim() })
        }
      }),
    onSuccess: ({ formUrl }) => window.location.assign(formUrl)
  })
  return (
    <fieldset className="feature">
      <legend>{words.create}</legend>
      <p className="muted">{words.about}</p>
      <TextField
        label={words.organization}
        helper={words.organizationHelp}
        optional
        autoComplete="off"
        spellCheck={false}
        value={organization}
        onChange={(event) => setOrganization(event.target.value)}
      />
      {start.error === null ? null : <FaultNotice error={start.error} />}
      <Button small busy={start.isPending} onClick={() => start.mutate()}>
        {words.create}
      </Button>
    </fieldset>
  )
}
