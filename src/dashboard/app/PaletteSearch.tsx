import "./Kit.ts"
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from "react"
import type { Workspace } from "../api/Types.ts"
import { Icon } from "../ui/Icon.tsx"
import { useRunStatus } from "../ui/Status.tsx"
import { useWords } from "../words/Words.ts"
import { looksLikeId, matching } from "./Matching.ts"
import { type Command, useCommands } from "./PaletteCommands.ts"
import { PaletteInput } from "./PaletteInput.tsx"
import { paletteWords } from "./PaletteWords.ts"
import { appWords } from "./Words.ts"
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { call } from "../api/Call.ts"
import { workspacesRuns } from "../api/Endpoints.ts"
import { capsulesQuery, sourcesQuery } from "../api/Queries.ts"
import { vocabulary } from "../words/Vocabulary.ts"

/** Delay that avoids a request for every key press. */
const typingPauseMs = 200
const fewestLetters = 2
const mostFound = "8"

const usePaused = (typed: string): string => {
  const [paused, setPaused] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(typed), typingPauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return paused
}

/**
 * Finds the newest Runs that match the text by the name of their Capsule or Source, by commit, by person, or by the first
 * characters of an id. The search runs on the server and only in this Workspace.
 */
const useFoundRuns = (workspace: Workspace, typed: string) => {
  const terms = useWords(vocabulary)
  const words = useWords(paletteWords)
  const statusOf = useRunStatus()
  const navigate = useNavigate()
  const search = usePaused(typed.trim())
  const isWanted = search.length >= fewestLetters
  const { data: runs, isFetching } = useQuery({
    queryKey: ["workspace", workspace.id, "found-runs", search],
    queryFn: ({ signal }) =>
      call(workspacesRuns, { params: { workspaceId: workspace.id }, query: { search, limit: mostFound }, signal }).then(
        (page) => page.runs
      ),
    enabled: isWanted
  })
  const { data: capsules } = useQuery(capsulesQuery(workspace.id))
  const { data: sources } = useQuery(sourcesQuery(workspace.id))
  const found = useMemo(() => {
    const names = new Map([...(capsules ?? []), ...(sources ?? [])].map((each) => [each.id, each.name]))
    // Results for an earlier search text cannot be selected.
    return (search === typed.trim() ? (runs ?? []) : []).map((run): Command => {
      const name = names.get(run.capsuleId ?? run.sourceId ?? "")
      return {
        id: run.id,
        group: words.runs,
        icon: "run",
        label: name === undefined ? terms.runType[run.type] : `${name} · ${terms.runType[run.type]}`,
        detail: `${statusOf(run)[1]} · ${run.id.slice(0, 12)}`,
        run: () =>
          void navigate({
            to: "/w/$workspace/runs/$runId",
            params: { workspace: workspace.handle, runId: run.id }
          })
      }
    })
  }, [runs, capsules, sources, search, typed, terms, words, statusOf, navigate, workspace])
  return { found, isSearching: isFetching || search !== typed.trim() }
}

const shownLimit = 40

interface PaletteSearchProps {
  readonly workspace: Workspace
  readonly typed: string
  readonly onType: (typed: string) => void
  readonly onClose: () => void
}

/** A combobox with a listbox that finds pages and records by name. */
export const PaletteSearch = ({ workspace, typed, onType, onClose }: PaletteSearchProps) => {
  const words = useWords(appWords)
  const text = useWords(paletteWords)
  const commands = useCommands(workspace)
  // Identifies the selected entry by name instead of position, so that entries that arrive late do not change the selection.
  const [active, setActive] = useState<string>()
  const id = useId()
  const runs = useFoundRuns(workspace, typed)
  const shown = useMemo(
    () => [...matching(commands, typed).slice(0, shownLimit), ...runs.found],
    [commands, typed, runs.found]
  )
  const current = Math.max(
    0,
    shown.findIndex((command) => command.id === active)
  )

  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: "nearest" })
  }, [id, current])

  const choose = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setActive(shown[(current + step + shown.length) % Math.max(1, shown.length)]?.id)
    } else if (event.key === "Enter") {
      event.preventDefault()
      choose(shown[current])
    }
  }
  return (
    <>
      <PaletteInput
        list={`${id}-list`}
        selected={shown.length === 0 ? undefined : `${id}-${current}`}
        typed={typed}
        onType={(next) => {
          onType(next)
          setActive(undefined)
        }}
        onKeyDown={onKeyDown}
      />
      <div
        className="palette-list"
        id={`${id}-list`}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a select cannot be filtered by a text field
        role="listbox"
        aria-label={words.palette}
        tabIndex={-1}
      >
        {shown.map((command, index) => (
          <div
            key={command.id}
            className="palette-entry"
            role="presentation"
            data-group={index === 0 || shown[index - 1]?.group !== command.group ? command.group : undefined}
          >
            <div
              id={`${id}-${index}`}
              // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- see its list
              role="option"
              tabIndex={-1}
              aria-selected={index === current}
              className="palette-item"
              onPointerMove={() => setActive(command.id)}
              onPointerDown={(event) => {
                event.preventDefault()
                choose(command)
              }}
            >
              <Icon name={command.icon} />
              <span className="palette-label">{command.label}</span>
              {command.detail === undefined ? null : <span className="palette-detail">{command.detail}</span>}
            </div>
          </div>
        ))}
      </div>
      {shown.length > 0 ? null : (
        <output className="palette-empty">
          {runs.isSearching ? text.searching : looksLikeId(typed.trim()) ? text.unknownId : words.paletteEmpty}
        </output>
      )}
    </>
  )
}
