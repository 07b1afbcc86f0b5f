import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react"
import type { Workspace } from "../api/Types.ts"
import { Icon } from "../ui/Icon.tsx"
import { useWords } from "../words/Words.ts"
import { useFoundRuns } from "./FoundRuns.ts"
import { looksLikeId, matching } from "./Matching.ts"
import { type Command, useCommands } from "./PaletteCommands.ts"
import { paletteWords } from "./PaletteWords.ts"
import { appWords } from "./Words.ts"

const shownLimit = 40

/** Cmd/Ctrl-K: everything by name. A combobox over a listbox, in the browser's modal dialog. */
export const Palette = ({ workspace, onClose }: { readonly workspace: Workspace; readonly onClose: () => void }) => {
  const words = useWords(appWords)
  const text = useWords(paletteWords)
  const commands = useCommands(workspace)
  const [typed, setTyped] = useState("")
  // Selected by name, not by position: entries that arrive late must not move the selection to another command.
  const [active, setActive] = useState<string>()
  const dialog = useRef<HTMLDialogElement>(null)
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
          placeholder={text.hint}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
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
      {shown.length > 0 ? null : (
        <output className="palette-empty">
          {runs.isSearching ? text.searching : looksLikeId(typed.trim()) ? text.unknownId : words.paletteEmpty}
        </output>
      )}
    </dialog>
  )
}
