import { flushSync } from "react-dom"
import { createRoot } from "react-dom/client"
import { applyPreferences } from "../preferences/Preferences.ts"
import { keepingEntered } from "./EnteredBefore.ts"
import { Join } from "./Join.tsx"
import { Setup } from "./Setup.tsx"
import { SignIn } from "./SignIn.tsx"

applyPreferences()

const root = document.querySelector("#root")
const pageOf = (name: string | undefined) => {
  if (name === "setup") return <Setup />
  return name === "join" ? <Join /> : <SignIn />
}

if (root instanceof HTMLElement) {
  keepingEntered(root, () => flushSync(() => createRoot(root).render(pageOf(root.dataset.page))))
}
