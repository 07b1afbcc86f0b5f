import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useMemo, useState } from "react"
import { call } from "../api/Call.ts"
import { workspacesRuns } from "../api/Endpoints.ts"
import { capsulesQuery, sourcesQuery } from "../api/Queries.ts"
import type { Workspace } from "../api/Types.ts"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import type { Command } from "./PaletteCommands.ts"
import { paletteWords } from "./PaletteWords.ts"

/** Avoids sending a request for every key press. */
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
 * The newest Runs that match the text: by the name of their Capsule or Source, by commit, by person, or by the first characters
 * of an id. The server searches, and only in this Workspace.
 */
export const useFoundRuns = (workspace: Workspace, typed: string) => {
  const terms = useWords(vocabulary)
  const words = useWords(paletteWords)
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
    // Results for earlier search text must not be selectable for the current text.
    return (search === typed.trim() ? (runs ?? []) : []).map((run): Command => {
      const name = names.get(run.capsuleId ?? run.sourceId ?? "")
      return {
        id: run.id,
        group: words.runs,
        icon: "run",
        label: name === undefined ? terms.runType[run.type] : `${name} · ${terms.runType[run.type]}`,
        detail: `${terms.runStatus[run.status]} · ${run.id.slice(0, 12)}`,
        run: () =>
          void navigate({
            to: "/w/$workspace/runs/$runId",
            params: { workspace: workspace.handle, runId: run.id }
          })
      }
    })
  }, [runs, capsules, sources, search, typed, terms, words, navigate, workspace])
  return { found, isSearching: isFetching || search !== typed.trim() }
}
