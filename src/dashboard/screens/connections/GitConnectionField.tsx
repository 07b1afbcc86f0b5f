import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { createPortal } from "react-dom"
import { connectionsQuery } from "../../api/Queries.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { SelectField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import { NewConnection } from "./NewConnection.tsx"
import { connectionWords } from "./Words.ts"

/**
 * Selects the Connection for reading a repository. Each option lists all destinations that may receive the Connection's
 * credentials.
 */
export const GitConnectionField = ({
  url,
  value,
  onChange
}: {
  /** The repository URL as typed so far. The Connection is used to read this repository. */
  readonly url: string
  /** Empty if no Connection is selected. */
  readonly value: string
  readonly onChange: (connectionId: string) => void
}) => {
  const words = useWords(connectionWords)
  const workspace = useWorkspace()
  const may = useMay()
  const [creating, setCreating] = useState(false)
  const connections = useQuery(connectionsQuery(workspace.id)).data ?? []
  const git = connections.filter(({ kind, status }) => kind === "git_https" && status !== "revoked")
  const admin = may("admin")
  if (git.length === 0 && !admin) return null
  return (
    <div className="with-button">
      <SelectField label={words.gitAuth} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{words.gitAuthNone}</option>
        {git.map(({ displayName, id, origins = [], proposedOrigins }) => (
          <option key={id} value={id} disabled={proposedOrigins !== undefined && id !== value}>
            {displayName} ({proposedOrigins === undefined ? origins.join(", ") : words.unconfirmed})
          </option>
        ))}
      </SelectField>
      {admin ? (
        <Button icon="plus" onClick={() => setCreating(true)}>
          {words.create}
        </Button>
      ) : null}
      {creating
        ? // A form must not be inside another form.
          createPortal(
            <NewConnection
              repository={url.trim()}
              onClose={() => setCreating(false)}
              onCreated={(connection) => onChange(connection.id)}
            />,
            document.body
          )
        : null}
    </div>
  )
}
