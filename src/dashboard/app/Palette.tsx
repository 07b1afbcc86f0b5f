import { lazy, Suspense, useEffect, useRef, useState } from "react"
import { whenReachable } from "../api/Reachability.ts"
import type { Workspace } from "../api/Types.ts"
import { useWords } from "../words/Words.ts"
import { PaletteInput } from "./PaletteInput.tsx"
import { appWords } from "./Words.ts"

const load = whenReachable(() => import("./PaletteSearch.tsx"))

// The search is loaded on demand, because people use it on only a few pages.
const PaletteSearch = lazy(async () => ({ default: (await load()).PaletteSearch }))

/** Loads the search while the person is about to open the palette. */
export const preloadPalette = (): void => {
  load().catch(() => undefined)
}

/**
 * Opens the palette on Cmd/Ctrl-K, in a modal dialog of the browser. People can type immediately; results appear once the
 * code for the search has been loaded.
 */
export const Palette = ({ workspace, onClose }: { readonly workspace: Workspace; readonly onClose: () => void }) => {
  const words = useWords(appWords)
  const [typed, setTyped] = useState("")
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
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
      <Suspense fallback={<PaletteInput typed={typed} onType={setTyped} />}>
        <PaletteSearch workspace={workspace} typed={typed} onType={setTyped} onClose={onClose} />
      </Suspense>
    </dialog>
  )
}
