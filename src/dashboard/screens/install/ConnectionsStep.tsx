import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { connectionsQuery } from "../../api/Queries.ts"
import type { ProviderRequirement } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { SelectField } from "../../ui/Field.tsx"
import { providerName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { NewConnection } from "../connections/NewConnection.tsx"
import { installWords } from "./Words.ts"

/** The key that joins a requirement and its binding; the server compares the same tuple. */
export const requirementKey = (requirement: ProviderRequirement): string =>
  JSON.stringify([requirement.provider, requirement.moduleLocalName, requirement.childAlias ?? null])

interface ConnectionsStepProps {
  readonly requirements: ReadonlyArray<ProviderRequirement>
  readonly bindings: Readonly<Record<string, string>>
  readonly onChange: (bindings: Readonly<Record<string, string>>) => void
}

export const ConnectionsStep = ({ requirements, bindings, onChange }: ConnectionsStepProps) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  const may = useMay()
  const connections = useQuery(connectionsQuery(workspace.id)).data ?? []
  const [creating, setCreating] = useState<ProviderRequirement | undefined>(undefined)
  if (requirements.length === 0) return <p className="muted">{words.connectionsNone}</p>
  return (
    <div className="form">
      {requirements.map((requirement) => {
        const key = requirementKey(requirement)
        const name = `${requirement.moduleLocalName}${requirement.childAlias === undefined ? "" : `.${requirement.childAlias}`}`
        return (
          <div key={key} className="with-button">
            <SelectField
              label={words.connectionFor(name)}
              helper={<code>{providerName(requirement.provider)}</code>}
              value={bindings[key] ?? ""}
              onChange={(event) => onChange({ ...bindings, [key]: event.target.value })}
            >
              <option value="">{words.connectionNone}</option>
              {connections
                .filter(
                  (connection) =>
                    connection.kind === "provider" &&
                    providerName(connection.provider) === providerName(requirement.provider) &&
                    connection.status !== "revoked"
                )
                .map((connection) => (
                  <option key={connection.id} value={connection.id}>
                    {connection.displayName}
                  </option>
                ))}
            </SelectField>
            {may("admin") ? (
              <Button icon="plus" onClick={() => setCreating(requirement)}>
                {words.connectionNew}
              </Button>
            ) : null}
          </div>
        )
      })}
      {creating === undefined ? null : (
        <NewConnection
          provider={creating.provider}
          onClose={() => setCreating(undefined)}
          onCreated={(connection) => onChange({ ...bindings, [requirementKey(creating)]: connection.id })}
        />
      )}
    </div>
  )
}
