import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react"
import { capsulesQuery, sourcesQuery } from "../api/Queries.ts"
import type { Capsule, Source, Workspace } from "../api/Types.ts"
import { preferences, setPreferences } from "../preferences/Preferences.ts"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { repositoryName } from "../words/Format.ts"
import { useWords } from "../words/Words.ts"
import { matching, searchable } from "./Matching.ts"
import { navigation } from "./Navigation.ts"
import { useBootstrap } from "./Workspace.ts"
import { appWords } from "./Words.ts"

interface Command {
  readonly id: string
  readonly group: string
  readonly icon: IconName
  readonly label: string
  readonly detail?: string
  readonly run: () => void
}

const shownLimit = 40

interface Known {
  readonly words: (typeof appWords)["en"]
  readonly navigate: ReturnType<typeof useNavigate>
  readonly workspace: Workspace
  readonly workspaces: ReadonlyArray<Workspace>
  readonly capsules: ReadonlyArray<Capsule>
  readonly sources: ReadonlyArray<Source>
}

const commandsFor = ({ words, navigate, workspace, workspaces, capsules, sources }: Known): ReadonlyArray<Command> => {
  const params = { workspace: workspace.handle }
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

/** Every command with its text. There is one per Capsule, so no key and no move rebuilds them. */
const useCommands = (workspace: Workspace) => {
  const words = useWords(appWords)
  const navigate = useNavigate()
  const { workspaces } = useBootstrap()
  const { data: capsules } = useQuery(capsulesQuery(workspace.id))
  const { data: sources } = useQuery(sourcesQuery(workspace.id))
  return useMemo(
    () =>
      searchable(
        commandsFor({ words, navigate, workspace, workspaces, capsules: capsules ?? [], sources: sources ?? [] }),
        (command) => `${command.label} ${command.detail ?? ""}`
      ),
    [words, navigate, workspace, workspaces, capsules, sources]
  )
}

/** Cmd/Ctrl-K: everything by name. A combobox over a listbox, in the browser's modal dialog. */
export const Palette = ({ workspace, onClose }: { readonly workspace: Workspace; readonly onClose: () => void }) => {
  const words = useWords(appWords)
  const commands = useCommands(workspace)
  const [text, setText] = useState("")
  // By name, not by position: entries that arrive late must not move the choice to another command.
  const [active, setActive] = useState<string>()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const shown = useMemo(() => matching(commands, text).slice(0, shownLimit), [commands, text])
  const current = Math.max(
    0,
    shown.findIndex((command) => command.id === active)
  )

  useEffect(() => {
    const opener = document.activeElement
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
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
    <dialog
      ref={dialog}
      className="palette"
      aria-label={words.palette}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onPointerDown={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div className="palette-input">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label={words.palette}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={shown.length === 0 ? undefined : `${id}-${current}`}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder={words.paletteHint}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setActive(undefined)
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>esc</kbd>
      </div>
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
      {shown.length === 0 ? <p className="palette-empty">{words.paletteEmpty}</p> : null}
    </dialog>
  )
}
