import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"
import { call } from "../api/Call.ts"
import { dashboardLatestRuns } from "../api/Endpoints.ts"
import { capsulesQuery, connectionsQuery, sourcesQuery } from "../api/Queries.ts"
import type { Capsule, Connection, Source, Workspace } from "../api/Types.ts"
import { preferences, setPreferences } from "../preferences/Preferences.ts"
import type { IconName } from "../ui/Icon.tsx"
import { repositoryName } from "../words/Format.ts"
import { useWords } from "../words/Words.ts"
import { looksLikeId, searchable } from "./Matching.ts"
import { navigation } from "./Navigation.ts"
import { useBootstrap } from "./Workspace.ts"
import { appWords } from "./Words.ts"

/** An entry of the palette. */
export interface Command {
  readonly id: string
  readonly group: string
  readonly icon: IconName
  readonly label: string
  readonly detail?: string
  readonly run: () => void
}

interface Known {
  readonly words: (typeof appWords)["en"]
  readonly navigate: ReturnType<typeof useNavigate>
  readonly workspace: Workspace
  readonly workspaces: ReadonlyArray<Workspace>
  readonly capsules: ReadonlyArray<Capsule>
  readonly sources: ReadonlyArray<Source>
  readonly connections: ReadonlyArray<Connection>
}

const commandsFor = ({
  words,
  navigate,
  workspace,
  workspaces,
  capsules,
  sources,
  connections
}: Known): ReadonlyArray<Command> => {
  const params = { workspace: workspace.handle }
  /**
   * Common actions on a Capsule. No entry acts immediately: each entry opens the page on which the person performs the
   * action.
   */
  const verbsOf = ({ environment, id: capsuleId, name }: Capsule): ReadonlyArray<Command> => {
    const to = (tab?: "state" | "history" | "resources", hash?: string) => () =>
      void (tab === undefined
        ? navigate({
            to: "/w/$workspace/capsules/$capsuleId",
            params: { ...params, capsuleId },
            ...(hash === undefined ? {} : { hash })
          })
        : navigate({ to: "/w/$workspace/capsules/$capsuleId/$tab", params: { ...params, capsuleId, tab } }))
    const openLog = async () => {
      const query = { workspaceId: workspace.id, capsuleIds: capsuleId }
      const { latestRuns } = await call(dashboardLatestRuns, { query })
      const [run] = latestRuns
      await (run === undefined
        ? navigate({ to: "/w/$workspace/capsules/$capsuleId", params: { ...params, capsuleId } })
        : navigate({ to: "/w/$workspace/runs/$runId", params: { ...params, runId: run.runId }, hash: "log" }))
    }
    const verbs: ReadonlyArray<readonly [string, string, IconName, () => void]> = [
      ["plan", words.verbs.plan(name), "run", to(undefined, "plan")],
      ["drift", words.verbs.drift(name), "warning", to(undefined, "drift")],
      ["rollback", words.verbs.rollback(name), "refresh", to("history")],
      ["outputs", words.verbs.outputs(name), "external", to(undefined, "outputs")],
      ["log", words.verbs.log(name), "activity", () => void openLog()]
    ]
    return verbs.map(([verb, label, icon, run]) => ({
      id: `${verb} ${capsuleId}`,
      group: words.groupVerbs,
      icon,
      label,
      detail: environment,
      run
    }))
  }
  return [
    {
      id: "install",
      group: words.groupDo,
      icon: "plus",
      label: words.installLong,
      run: () => void navigate({ to: "/new" })
    },
    {
      id: "theme",
      group: words.groupDo,
      icon: "gear",
      label: words.changeTheme,
      run: () => setPreferences({ theme: preferences().theme === "dark" ? "light" : "dark" })
    },
    {
      id: "language",
      group: words.groupDo,
      icon: "book",
      label: words.changeLanguage,
      run: () => setPreferences({ language: preferences().language === "ja" ? "en" : "ja" })
    },
    ...navigation.map(
      (item): Command => ({
        id: item.to,
        group: words.groupGo,
        icon: item.icon,
        label: words[item.word],
        run: () => void navigate({ to: item.to, params })
      })
    ),
    {
      id: "account",
      group: words.groupGo,
      icon: "person",
      label: words.account,
      run: () => void navigate({ to: "/account" })
    },
    ...capsules.map(
      (capsule): Command => ({
        id: capsule.id,
        group: words.groupCapsules,
        icon: "capsule",
        label: capsule.name,
        detail: capsule.environment,
        run: () =>
          void navigate({ to: "/w/$workspace/capsules/$capsuleId", params: { ...params, capsuleId: capsule.id } })
      })
    ),
    ...capsules.flatMap(verbsOf),
    ...sources.map(
      (source): Command => ({
        id: source.id,
        group: words.sources,
        icon: "source",
        label: source.name,
        detail: repositoryName(source.url),
        run: () => void navigate({ to: "/w/$workspace/sources/$sourceId", params: { ...params, sourceId: source.id } })
      })
    ),
    ...connections.map(
      (connection): Command => ({
        id: connection.id,
        group: words.connections,
        icon: "connection",
        label: connection.displayName,
        detail: connection.provider,
        run: () => void navigate({ to: "/w/$workspace/connections", params })
      })
    ),
    ...workspaces
      .filter((other) => other.id !== workspace.id)
      .map(
        (other): Command => ({
          id: other.id,
          group: words.groupWorkspaces,
          icon: "people",
          label: other.displayName,
          detail: other.handle,
          run: () => void navigate({ to: "/w/$workspace", params: { workspace: other.handle } })
        })
      )
  ]
}

/** Records can also be found by their id or by the first characters of the id. */
const textOf = ({ detail, id, label }: Command): string => `${label} ${detail ?? ""} ${looksLikeId(id) ? id : ""}`

/**
 * All commands with their texts. Because there is at least one command for each Capsule, the list is not rebuilt on every
 * key press or change of selection.
 */
export const useCommands = (workspace: Workspace) => {
  const words = useWords(appWords)
  const navigate = useNavigate()
  const { workspaces } = useBootstrap()
  const { data: capsules } = useQuery(capsulesQuery(workspace.id))
  const { data: sources } = useQuery(sourcesQuery(workspace.id))
  const { data: connections } = useQuery(connectionsQuery(workspace.id))
  return useMemo(
    () =>
      searchable(
        commandsFor({
          words,
          navigate,
          workspace,
          workspaces,
          capsules: capsules ?? [],
          sources: sources ?? [],
          connections: connections ?? []
        }),
        textOf
      ),
    [words, navigate, workspace, workspaces, capsules, sources, connections]
  )
}
