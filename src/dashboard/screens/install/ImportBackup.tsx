import { useState } from "react"
import { mostBackupFileBytes } from "../../../../schema/records/StateUploadLimits.ts"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { backupImportsUpload } from "../../api/Endpoints.ts"
import type { StateUpload } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import { importWords } from "./ImportWords.ts"
import { useDecision } from "../../ui/Decision.ts"

/** A Capsule in the readable part of a backup. */
interface NamedCapsule {
  readonly capsuleId: string
  readonly name: string
}

const isNamed = (value: unknown): value is NamedCapsule =>
  typeof value === "object" &&
  value !== null &&
  "capsuleId" in value &&
  typeof value.capsuleId === "string" &&
  "name" in value &&
  typeof value.name === "string"

/**
 * Returns the Capsules in a backup file, or an empty list for any other file. The server refuses other files with a message.
 */
const capsulesOfFile = (text: string): ReadonlyArray<NamedCapsule> => {
  try {
    const file: unknown = JSON.parse(text)
    return typeof file === "object" && file !== null && "capsules" in file && Array.isArray(file.capsules)
      ? file.capsules.filter(isNamed)
      : []
  } catch {
    return []
  }
}

/** Creates the Capsule from a backup of a Capsule in another installation. */
export const ImportBackup = ({ onUploaded }: { readonly onUploaded: (upload: StateUpload) => void }) => {
  const words = useWords(importWords)
  const workspace = useWorkspace()
  const [file, setFile] = useState<File | undefined>(undefined)
  const [capsules, setCapsules] = useState<ReadonlyArray<NamedCapsule>>([])
  const [chosen, setChosen] = useState("")
  const [key, setKey] = useState(newIdempotencyKey)
  const isTooLarge = file !== undefined && file.size > mostBackupFileBytes
  const capsuleId = chosen === "" ? capsules[0]?.capsuleId : chosen
  const upload = useDecision({
    send: async (signal, backup: File) =>
      call(backupImportsUpload, {
        signal,
        params: { workspaceId: workspace.id },
        query: capsules.length > 1 ? { capsuleId } : {},
        body: new Uint8Array(await backup.arrayBuffer()),
        idempotencyKey: key
      }),
    onSuccess: ({ stateUpload }) => onUploaded(stateUpload)
  })
  const choose = async (backup: File | undefined) => {
    setFile(backup)
    setChosen("")
    setCapsules([])
    setKey(newIdempotencyKey())
    upload.reset()
    if (backup !== undefined && backup.size <= mostBackupFileBytes) setCapsules(capsulesOfFile(await backup.text()))
  }
  return (
    <details className="fold">
      <summary>{words.title}</summary>
      <p className="muted">{words.about}</p>
      <div className="form">
        <TextField
          label={words.file}
          helper={words.fileHelp}
          error={isTooLarge ? words.tooLarge : undefined}
          type="file"
          accept=".json,application/json"
          onChange={(event) => void choose(event.target.files?.[0])}
        />
        {capsules.length < 2 ? null : (
          <SelectField
            label={words.capsule}
            value={capsuleId}
            onChange={(event) => {
              setChosen(event.target.value)
              setKey(newIdempotencyKey())
            }}
          >
            {capsules.map((capsule) => (
              <option key={capsule.capsuleId} value={capsule.capsuleId}>
                {capsule.name}
              </option>
            ))}
          </SelectField>
        )}
        {upload.error === null ? null : <FaultNotice error={upload.error} />}
        <Button
          small
          busy={upload.isPending}
          disabled={file === undefined || isTooLarge}
          onClick={() => {
            if (file !== undefined) upload.mutate(file)
          }}
        >
          {words.upload}
        </Button>
      </div>
    </details>
  )
}
