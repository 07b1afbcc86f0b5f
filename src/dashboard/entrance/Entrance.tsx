import { createRoot } from "react-dom/client"
import { applyPreferences } from "../preferences/Preferences.ts"
import { Setup } from "./Setup.tsx"
import { SignIn } from "./SignIn.tsx"

applyPreferences()

const root = document.querySelector("#root")
if (root instanceof HTMLElement) createRoot(root).render(root.dataset.page === "setup" ? <Setup /> : <SignIn />)
