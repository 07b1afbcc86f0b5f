import { useState } from "react"
import { mostStateBytes } from "../../../../schema/records/StateUploadLimits.ts"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { stateUploadsCreate } from "../../api/Endpoints.ts"
import type { NewInstallPlan, StateUpload } from "../../api/Types.ts"
import { useOffers } from "../../app/Families.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { AreaField, TextField } from "../../ui/Field.tsx"
import { Facts } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { ImportBackup } from "./ImportBackup.tsx"
import { importWords } from "./ImportWords.ts"
import { takeOverWords } from "./TakeOverWords.ts"
import { useDecision } from "../../ui/Decision.ts"

/** An uploaded state, and the addresses that the person has entered. */
export interface TakenState {
  readonly upload: StateUpload
  readonly undeclared: string
}

/** The state as sent in the request. */
export const adoptOf = (taken: TakenState | undefined): Pick<NewInstallPlan, "adopt"> => {
  if (taken === undefined) return {}
  const undeclared = taken.undeclared
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  const { id, sha256 } = taken.upload
  return { adopt: { uploadId: id, sha256, ...(undeclared.length === 0 ? {} : { undeclared }) } }
}

interface TakeOverProps {
  readonly taken: TakenState | undefined
  readonly onChange: (taken: TakenState | undefined) => void
}

const Upload = ({ onChange }: Pick<TakeOverProps, "onChange">) => {
  const words = useWords(takeOverWords)
  const workspace = useWorkspace()
  const [file, setFile] = useState<File | undefined>(undefined)
  const [key, setKey] = useState(newIdempotencyKey)
  const isTooLarge = file !== undefined && file.size > mostStateBytes
  const upload = useDecision({
    send: async (signal, chosen: File) =>
      call(stateUploadsCreate, {
        signal,
        params: { workspaceId: workspace.id },
        body: new Uint8Array(await chosen.arrayBuffer()),
        idempotencyKey: key
      }),
    onSuccess: ({ stateUpload }) => onChange({ upload: stateUpload, undeclared: "" })
  })
  return (
    <div className="form">
      <TextField
        label={words.file}
        helper={`${words.fileHelp} ${words.sealed}`}
        error={isTooLarge ? words.tooLarge : undefined}
        type="file"
        accept=".tfstate,.json,application/json"
        onChange={(event) => {
          setFile(event.target.files?.[0])
          setKey(newIdempotencyKey())
          upload.reset()
        }}
      />
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
  )
}

/** Creates the Capsule from the state of existing infrastructure. */
export const TakeOver = ({ taken, onChange }: TakeOverProps) => {
  const words = useWords(takeOverWords)
  const imports = useWords(importWords)
  const takesStates = useOffers("state-uploads")
  const takesBackups = useOffers("backup-imports")
  const from = taken?.upload.importedFrom
  return (
    <>
      {taken === undefined && !takesStates ? null : (
        <details className="fold" open={taken !== undefined || undefined}>
          <summary>{from === undefined ? words.title : imports.title}</summary>
          <p className="muted">{from === undefined ? words.about : imports.about}</p>
          {taken === undefined ? (
            <Upload onChange={onChange} />
          ) : (
            <div className="form">
              <Facts
                items={[
                  [imports.origin, from === undefined ? undefined : imports.from(from.name)],
                  [words.uploaded, words.facts(taken.upload.resourceCount, taken.upload.serial)],
                  [words.writtenBy, taken.upload.toolVersion],
                  [words.digest, <code key="digest">{taken.upload.sha256}</code>]
                ]}
              />
              <AreaField
                label={words.undeclared}
                helper={words.undeclaredHelp}
                optional
                mono
                rows={3}
                value={taken.undeclared}
                onChange={(event) => onChange({ ...taken, undeclared: event.target.value })}
              />
              <Button small onClick={() => onChange(undefined)}>
                {words.without}
              </Button>
            </div>
          )}
        </details>
      )}
      {taken === undefined && takesBackups ? (
        <ImportBackup onUploaded={(upload) => onChange({ upload, undeclared: "" })} />
      ) : null}
    </>
  )
}
