import { useQuery, useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense, useState } from "react"
import { call } from "../../api/Call.ts"
import { agentPoolsQuery } from "../../api/AgentQueries.ts"
import { connectionsCreate } from "../../api/Endpoints.ts"
import { connectionsQuery, recipesQuery } from "../../api/Queries.ts"
import { whenReachable } from "../../api/Reachability.ts"
import type { Connection, CredentialRecipe } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button, IconButton } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { AreaField, SelectField, TextField } from "../../ui/Field.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { httpsLink, providerName } from "../../words/Format.ts"
import { useBilingual, useWords } from "../../words/Words.ts"
import {
  connectionBody,
  type FreeVariable,
  isGeneric,
  hasOrigins,
  isGit,
  isGitHubApp,
  likelyOrigin,
  offeredBy,
  recipesFor,
  serverOf
} from "./ConnectionDraft.ts"
import { connectionWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

// Loaded on demand, because few Connections use a GitHub App.
const GitHubAppStart = lazy(
  whenReachable(async () => ({ default: (await import("./GitHubAppStart.tsx")).GitHubAppStart }))
)

interface NewConnectionProps {
  /** Set if a module requires this provider. */
  readonly provider?: string
  /** Set if the Connection is for reading the repository with this URL. */
  readonly repository?: string
  readonly onClose: () => void
  readonly onCreated?: (connection: Connection) => void
}

const FreeVariables = ({
  free,
  onChange
}: {
  readonly free: ReadonlyArray<FreeVariable>
  readonly onChange: (free: ReadonlyArray<FreeVariable>) => void
}) => {
  const words = useWords(connectionWords)
  const set = (id: number, next: Partial<FreeVariable>) =>
    onChange(free.map((each) => (each.id === id ? { ...each, ...next } : each)))
  return (
    <fieldset className="feature">
      <legend>{words.variables}</legend>
      {free.map((variable) => (
        <div key={variable.id} className="variable-row">
          <TextField
            label={words.variableName}
            mono
            autoComplete="off"
            spellCheck={false}
            value={variable.name}
            onChange={(event) => set(variable.id, { name: event.target.value })}
          />
          <TextField
            label={words.variableValue}
            type="password"
            autoComplete="new-password"
            value={variable.value}
            onChange={(event) => set(variable.id, { value: event.target.value })}
          />
          {free.length === 1 ? null : (
            <IconButton
              icon="cross"
              label={words.removeVariable}
              onClick={() => onChange(free.filter(({ id }) => id !== variable.id))}
            />
          )}
        </div>
      ))}
      <Button
        small
        icon="plus"
        onClick={() => onChange([...free, { id: Math.max(0, ...free.map(({ id }) => id)) + 1, name: "", value: "" }])}
      >
        {words.addVariable}
      </Button>
    </fieldset>
  )
}

const Form = ({
  recipes,
  provider,
  repository,
  onClose,
  onCreated
}: NewConnectionProps & { readonly recipes: ReadonlyArray<CredentialRecipe> }) => {
  const words = useWords(connectionWords)
  const terms = useWords(vocabulary)
  const say = useBilingual()
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const fitting = repository === undefined ? recipesFor(recipes, provider) : recipes.filter(isGit)
  const [recipeId, setRecipeId] = useState(fitting[0]?.id ?? "")
  const [modeId, setModeId] = useState<string | undefined>(undefined)
  const [typedProvider, setProvider] = useState(provider === undefined ? "" : providerName(provider))
  const [displayName, setDisplayName] = useState("")
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [files, setFiles] = useState<Readonly<Record<string, string>>>({})
  const [free, setFree] = useState<ReadonlyArray<FreeVariable>>([{ id: 1, name: "", value: "" }])
  const [expiresOn, setExpiresOn] = useState("")
  const [origins, setOrigins] = useState(serverOf(repository ?? ""))
  const recipe = fitting.find(({ id }) => id === recipeId) ?? fitting[0]
  const mode = recipe?.authModes.find(({ id }) => id === modeId) ?? recipe?.authModes[0]
  const pools = useQuery(agentPoolsQuery(workspace.id))
  const offered = recipe === undefined ? [] : offeredBy(recipe, pools.data ?? [])
  const [chosen, setChosen] = useState("")
  const providedBy = offered.find(({ name, pool }) => `${pool}/${name}` === chosen)
  const create = useDecision({
    send: async (signal) => {
      if (recipe === undefined || mode === undefined) throw new Error("No recipe is chosen.")
      return call(connectionsCreate, {
        signal,
        body: connectionBody(workspace.id, {
          recipe,
          mode,
          provider: typedProvider,
          displayName,
          values,
          files,
          free,
          expiresOn,
          origins,
          providedBy
        })
      })
    },
    onSuccess: async ({ connection }) => {
      await queryClient.invalidateQueries({ queryKey: connectionsQuery(workspace.id).queryKey })
      onCreated?.(connection)
      onClose()
    }
  })
  if (recipe === undefined || mode === undefined) return null
  const documentation = httpsLink(recipe.documentationUrl)
  return (
    <form
      className="form"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        // Prevents the surrounding form from being submitted.
        event.stopPropagation()
        create.mutate()
      }}
    >
      <SelectField
        label={words.recipe}
        helper={say(recipe.description)}
        value={recipe.id}
        onChange={(event) => {
          setRecipeId(event.target.value)
          const chosenRecipe = fitting.find(({ id }) => id === event.target.value)
          if (origins === "" && chosenRecipe !== undefined) setOrigins(likelyOrigin(chosenRecipe))
        }}
      >
        {fitting.map((each) => (
          <option key={each.id} value={each.id}>
            {say(each.displayName)}
          </option>
        ))}
      </SelectField>
      {isGeneric(recipe) ? (
        <TextField
          label={words.provider}
          helper={words.providerHelp}
          mono
          required
          readOnly={provider !== undefined}
          spellCheck={false}
          value={typedProvider}
          onChange={(event) => setProvider(event.target.value)}
        />
      ) : null}
      {offered.length === 0 ? null : (
        <SelectField
          label={words.place}
          helper={words.placeHelp}
          value={providedBy === undefined ? "" : chosen}
          onChange={(event) => setChosen(event.target.value)}
        >
          <option value="">{words.placeHere}</option>
          {offered.map(({ name, pool }) => (
            <option key={`${pool}/${name}`} value={`${pool}/${name}`}>
              {words.placePool(pool, name)}
            </option>
          ))}
        </SelectField>
      )}
      {recipe.authModes.length < 2 || providedBy !== undefined ? null : (
        <SelectField label={words.mode} value={mode.id} onChange={(event) => setModeId(event.target.value)}>
          {recipe.authModes.map((each) => (
            <option key={each.id} value={each.id}>
              {say(each.label)}
            </option>
          ))}
        </SelectField>
      )}
      <TextField
        label={words.displayName}
        helper={words.displayNameHelp}
        required
        maxLength={120}
        value={displayName}
        onChange={(event) => setDisplayName(event.target.value)}
      />
      {mode.values.map((value) => (
        <TextField
          key={value.name}
          label={say(value.label)}
          helper={<code className="field-variable">{value.name}</code>}
          required={value.required}
          optional={!value.required}
          type={value.secret ? "password" : "text"}
          autoComplete={value.secret ? "new-password" : "off"}
          value={values[value.name] ?? ""}
          onChange={(event) => setValues({ ...values, [value.name]: event.target.value })}
        />
      ))}
      {hasOrigins(recipe) ? (
        <AreaField
          label={words.origins}
          helper={words.originsHelp}
          mono
          rows={2}
          required
          spellCheck={false}
          value={origins}
          onChange={(event) => setOrigins(event.target.value)}
        />
      ) : null}
      {isGitHubApp(recipe, mode) ? (
        <Suspense fallback={null}>
          <GitHubAppStart displayName={displayName} origin={origins} />
        </Suspense>
      ) : null}
      {mode.files.map((file) => (
        <AreaField
          key={file.name}
          label={say(file.label)}
          helper={<code className="field-variable">{file.name}</code>}
          mono
          rows={5}
          required={file.required}
          spellCheck={false}
          value={files[file.name] ?? ""}
          onChange={(event) => setFiles({ ...files, [file.name]: event.target.value })}
        />
      ))}
      {isGeneric(recipe) && mode.id !== "none" && providedBy === undefined ? (
        <FreeVariables free={free} onChange={setFree} />
      ) : null}
      <TextField
        label={words.expiresAt}
        helper={words.expiresHelp}
        optional
        type="date"
        value={expiresOn}
        onChange={(event) => setExpiresOn(event.target.value)}
      />
      {documentation === undefined ? null : (
        <p>
          <a href={documentation} target="_blank" rel="noreferrer noopener">
            {words.documentation}
          </a>
        </p>
      )}
      {create.error === null ? null : <FaultNotice error={create.error} />}
      <div className="form-actions">
        <Button tone="primary" type="submit" busy={create.isPending}>
          {terms.save}
        </Button>
        <Button onClick={onClose}>{terms.cancel}</Button>
      </div>
    </form>
  )
}

export const NewConnection = (props: NewConnectionProps) => {
  const words = useWords(connectionWords)
  const recipes = useQuery(recipesQuery)
  return (
    <Dialog title={words.create} onClose={props.onClose}>
      <Loadable query={recipes}>{(found) => <Form {...props} recipes={found} />}</Loadable>
    </Dialog>
  )
}
