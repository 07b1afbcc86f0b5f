import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { credentialFreeProviders } from "../../../../schema/records/CredentialFreeProviders.ts"
import { call } from "../../api/Call.ts"
import { connectionsCreate } from "../../api/Endpoints.ts"
import { connectionsQuery } from "../../api/Queries.ts"
import type { Connection, ProviderRequirement } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { SelectField } from "../../ui/Field.tsx"
import { providerName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { NewConnection } from "../connections/NewConnection.tsx"
import { installWords } from "./Words.ts"

/** The key that connects a requirement to its binding. The server matches requirements and bindings by the same values. */
export const requirementKey = (requirement: ProviderRequirement): string =>
  JSON.stringify([requirement.provider, requirement.moduleLocalName, requirement.childAlias ?? null])

/** The name that a module gives to a requirement. */
export const requirementName = ({ childAlias, moduleLocalName }: ProviderRequirement): string =>
  childAlias === undefined ? moduleLocalName : `${moduleLocalName}.${childAlias}`

const needsNone = ({ provider }: ProviderRequirement): boolean => credentialFreeProviders.has(providerName(provider))

type Bindings = Readonly<Record<string, string>>

/** The requirements without a Connection, which would make the plan fail. */
export const unboundRequirements = (
  requirements: ReadonlyArray<ProviderRequirement>,
  bindings: Bindings
): ReadonlyArray<ProviderRequirement> =>
  requirements.filter((each) => !needsNone(each) && (bindings[requirementKey(each)] ?? "") === "")

/** Only these Connections can be chosen, because a plan cannot use a Connection with any other status. */
const isUsable = ({ status }: Connection): boolean => status === "pending" || status === "verified"

const fits = (connection: Connection, { provider }: ProviderRequirement): boolean =>
  connection.kind === "provider" && providerName(connection.provider) === providerName(provider) && isUsable(connection)

interface RequirementProps {
  readonly requirement: ProviderRequirement
  readonly value: string
  readonly isTried: boolean
  readonly onChange: (connectionId: string) => void
  readonly onCreate: () => void
}

const Requirement = ({ requirement, value, isTried, onChange, onCreate }: RequirementProps) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const connections = useQuery(connectionsQuery(workspace.id)).data ?? []
  const choices = connections.filter((connection) => fits(connection, requirement))
  const name = requirementName(requirement)
  const isFree = needsNone(requirement)
  const withoutCredentials = choices.find(({ authMode }) => authMode === "none")
  const declare = useDecision({
    send: (signal) =>
      call(connectionsCreate, {
        signal,
        body: {
          workspaceId: workspace.id,
          provider: providerName(requirement.provider),
          recipeId: "generic-env",
          authMode: "none",
          displayName: words.connectionFreeName(name),
          values: {},
          files: []
        }
      }),
    onSuccess: async ({ connection }) => {
      await queryClient.invalidateQueries({ queryKey: connectionsQuery(workspace.id).queryKey })
      onChange(connection.id)
    }
  })
  return (
    <div className="stack">
      <div className="with-button">
        <SelectField
          label={words.connectionFor(name)}
          helper={
            <>
              <code>{providerName(requirement.provider)}</code>
              {isFree || may("admin") || choices.length > 0 ? null : <span>{words.connectionAsk}</span>}
            </>
          }
          name={`connection ${requirementKey(requirement)}`}
          required={!isFree}
          error={isTried && !isFree && value === "" ? words.connectionMissing : undefined}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {isFree ? (
            <option value="">{words.connectionNone}</option>
          ) : (
            <option value="" disabled>
              {words.connectionChoose}
            </option>
          )}
          {choices.map((connection) => (
            <option key={connection.id} value={connection.id}>
              {connection.displayName}
            </option>
          ))}
        </SelectField>
        {may("admin") ? (
          <Button icon="plus" onClick={onCreate}>
            {words.connectionNew}
          </Button>
        ) : null}
      </div>
      {isFree || value !== "" || !may("admin") ? null : (
        <div>
          <Button
            small
            busy={declare.isPending}
            onClick={() => (withoutCredentials === undefined ? declare.mutate() : onChange(withoutCredentials.id))}
          >
            {words.connectionFree}
          </Button>
        </div>
      )}
      {declare.error === null ? null : <FaultNotice error={declare.error} />}
    </div>
  )
}

interface ConnectionsStepProps {
  readonly requirements: ReadonlyArray<ProviderRequirement>
  readonly bindings: Bindings
  /** True once the person has tried to create the plan, which requires a choice for every Connection. */
  readonly isTried: boolean
  readonly onChange: (bindings: Bindings) => void
}

export const ConnectionsStep = ({ requirements, bindings, isTried, onChange }: ConnectionsStepProps) => {
  const words = useWords(installWords)
  const [creating, setCreating] = useState<ProviderRequirement | undefined>(undefined)
  if (requirements.length === 0) return <p className="muted">{words.connectionsNone}</p>
  return (
    <div className="form">
      {requirements.map((requirement) => {
        const key = requirementKey(requirement)
        return (
          <Requirement
            key={key}
            requirement={requirement}
            value={bindings[key] ?? ""}
            isTried={isTried}
            onChange={(connectionId) => onChange({ ...bindings, [key]: connectionId })}
            onCreate={() => setCreating(requirement)}
          />
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
