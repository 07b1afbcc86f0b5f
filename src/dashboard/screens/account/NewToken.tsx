import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { accountTokensCreate } from "../../api/Endpoints.ts"
import { tokenScopesQuery, tokensQuery } from "../../api/AccountQueries.ts"
import { useBootstrap } from "../../app/Workspace.ts"
import { Loadable } from "../../ui/Feedback.tsx"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useBilingual, useWords } from "../../words/Words.ts"
import { accountWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

export const NewToken = ({ workspaceId, onClose }: { readonly workspaceId?: string; readonly onClose: () => void }) => {
  const words = useWords(accountWords)
  const terms = useWords(vocabulary)
  const say = useBilingual()
  const { workspaces } = useBootstrap()
  const queryClient = useQueryClient()
  const catalog = useQuery(tokenScopesQuery)
  const [name, setName] = useState("")
  const [scopes, setScopes] = useState<ReadonlyArray<string>>(["read"])
  const [workspace, setWorkspace] = useState(workspaceId ?? "")
  const [expiresOn, setExpiresOn] = useState("")
  const needsWorkspace = (catalog.data ?? []).some(
    ({ scope, workspaceBinding }) => workspaceBinding === "required" && scopes.includes(scope)
  )
  const create = useDecision({
    send: (signal) =>
      call(accountTokensCreate, {
        signal,
        body: {
          name: name.trim(),
          scopes,
          ...(workspace === "" ? {} : { workspace_id: workspace }),
          ...(expiresOn === "" ? {} : { expires_at: `${expiresOn}T23:59:59.000Z` })
        }
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey })
  })
  if (create.data !== undefined) {
    return (
      <SecretOnce
        title={words.onceTitle}
        text={words.onceText}
        secret={create.data.token}
        done={words.done}
        onClose={onClose}
      />
    )
  }
  const missing = needsWorkspace && workspace === ""
  return (
    <FormDialog
      title={words.newToken}
      action={terms.create}
      incomplete={scopes.length === 0}
      change={create}
      onSubmit={() => {
        if (!missing && scopes.length > 0) create.mutate()
      }}
      onClose={onClose}
    >
      <TextField
        label={words.tokenName}
        helper={words.tokenNameHelp}
        required
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset className="feature">
        <legend>{words.scopes}</legend>
        <Loadable query={catalog}>
          {(found) =>
            found
              .filter(({ selfService }) => selfService)
              .map((scope) => (
                <CheckField
                  key={scope.scope}
                  label={say(scope.label)}
                  helper={say(scope.description)}
                  checked={scopes.includes(scope.scope)}
                  onChange={(event) =>
                    setScopes(
                      event.target.checked ? [...scopes, scope.scope] : scopes.filter((each) => each !== scope.scope)
                    )
                  }
                />
              ))
          }
        </Loadable>
      </fieldset>
      <SelectField
        label={words.workspace}
        error={missing ? words.workspaceNeeded : undefined}
        value={workspace}
        onChange={(event) => setWorkspace(event.target.value)}
      >
        <option value="">{words.anyWorkspace}</option>
        {workspaces.map((each) => (
          <option key={each.id} value={each.id}>
            {each.displayName}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.expires}
        optional
        type="date"
        value={expiresOn}
        onChange={(event) => setExpiresOn(event.target.value)}
      />
    </FormDialog>
  )
}
