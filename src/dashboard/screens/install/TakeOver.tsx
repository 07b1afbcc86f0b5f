import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { mostBackupBytes, mostStateBytes } from "../../../../schema/records/StateUploadLimits.ts"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { importsCreate, stateUploadsCreate } from "../../api/Endpoints.ts"
import type { NewInstallPlan, StateUpload } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { AreaField, SelectField, TextField } from "../../ui/Field.tsx"
import { Facts } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { type BackupFile, backupFileOf } from "./BackupFile.ts"
import { takeOverWords } from "./TakeOverWords.ts"

/** An uploaded state, and the addresses that the person has typed. */
export interface TakenState {
  readonly upload: StateUpload
  readonly undeclared: string
}

/** In the form of the request. */
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
  const [backup, setBackup] = useState<BackupFile | undefined>(undefined)
  const [capsuleId, setCapsuleId] = useState("")
  const [key, setKey] = useState(newIdempotencyKey)
  const isTooLarge = file !== undefined && file.size > (backup === undefined ? mostStateBytes : mostBackupBytes)
  const capsules = backup?.capsules ?? []
  const upload = useMutation({
    mutationFn: async (chosen: File) => {
      const request = {
        params: { workspaceId: workspace.id },
        body: new Uint8Array(await chosen.arrayBuffer()),
        idempotencyKey: key
      }
      return backup === undefined
        ? call(stateUploadsCreate, request)
        : call(importsCreate, { ...request, query: capsuleId === "" ? {} : { capsuleId } })
    },
    onSuccess: ({ stateUpload }) => onChange({ upload: stateUpload, undeclared: "" })
  })
  return (
    <div className="form">
      <TextField
        label={words.file}
        helper={`${words.fileHelp} ${words.sealed}`}
        error={isTooLarge ? words.tooLarge : undefined}
        type="file"
        accept=".tfstate,.json,.backup,application/json"
        onChange={async (event) => {
          const chosen = event.target.files?.[0]
          setFile(chosen)
          setCapsuleId("")
          setBackup(chosen === undefined ? undefined : await backupFileOf(chosen))
          setKey(newIdempotencyKey())
          upload.reset()
        }}
      />
      {backup === undefined ? null : <p>{words.isBackup}</p>}
      {capsules.length > 1 ? (
        <SelectField
          label={words.capsule}
          required
          value={capsuleId}
          onChange={(event) => setCapsuleId(event.target.value)}
        >
          <option value="">{words.choose}</option>
          {capsules.map(({ id, name }) => (
            <option key={id} value={id}>
              {name} · {id}
            </option>
          ))}
        </SelectField>
      ) : null}
      {upload.error === null ? null : <FaultNotice error={upload.error} />}
      <Button
        small
        busy={upload.isPending}
        disabled={file === undefined || isTooLarge || (capsules.length > 1 && capsuleId === "")}
        onClick={() => {
          if (file !== undefined) upload.mutate(file)
        }}
      >
        {words.upload}
      </Button>
    </div>
  )
}

/** The state of infrastructure that exists already, as the beginning of the Capsule. */
export const TakeOver = ({ taken, onChange }: TakeOverProps) => {
  const words = useWords(takeOverWords)
  return (
    <details className="fold" open={taken !== undefined || undefined}>
      <summary>{words.title}</summary>
      <p className="muted">{words.about}</p>
      {taken === undefined ? (
        <Upload onChange={onChange} />
      ) : (
        <div className="form">
          <Facts
            items={[
              [words.uploaded, words.facts(taken.upload.resourceCount, taken.upload.serial)],
              [
                words.importedFrom,
                taken.upload.importedFrom === undefined ? undefined : (
                  <>
                    {taken.upload.importedFrom.name} · <Time at={taken.upload.importedFrom.backupAt} />
                  </>
                )
              ],
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
  )
}
