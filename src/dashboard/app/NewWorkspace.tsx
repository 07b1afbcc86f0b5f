import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../api/Call.ts"
import { workspacesCreate } from "../api/Endpoints.ts"
import { bootstrapQuery } from "../api/Queries.ts"
import { TextField } from "../ui/Field.tsx"
import { FormDialog } from "../ui/FormDialog.tsx"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { appWords } from "./Words.ts"
import { useDecision } from "../ui/Decision.ts"

const words = {
  en: {
    name: "Name",
    handle: "Handle",
    handleHelp:
      "Part of every address of this workspace. Lower-case letters, digits and hyphens; it cannot be changed later."
  },
  ja: {
    name: "名前",
    handle: "ハンドル",
    handleHelp: "このワークスペースのすべての URL に使われます。英小文字・数字・ハイフンのみ。あとから変更できません。"
  }
}

const handleFrom = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 39)

export const NewWorkspace = ({ onClose }: { readonly onClose: () => void }) => {
  const text = useWords(words)
  const app = useWords(appWords)
  const terms = useWords(vocabulary)
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [name, setName] = useState("")
  const [handle, setHandle] = useState<string | undefined>(undefined)
  const shownHandle = handle ?? handleFrom(name)
  const create = useDecision({
    send: (signal) =>
      call(workspacesCreate, { signal, body: { handle: shownHandle, displayName: name.trim(), type: "organization" } }),
    onSuccess: async ({ workspace }) => {
      await queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
      onClose()
      void navigate({ to: "/w/$workspace", params: { workspace: workspace.handle } })
    }
  })
  return (
    <FormDialog
      title={app.newWorkspace}
      action={terms.create}
      change={create}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label={text.name}
        required
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={text.handle}
        helper={text.handleHelp}
        mono
        required
        pattern="[a-z0-9][a-z0-9\-]{1,38}"
        value={shownHandle}
        onChange={(event) => setHandle(event.target.value)}
      />
    </FormDialog>
  )
}
