import { accountDialogs } from "./dialogs/AccountDialogs.ts"
import { appDialogs } from "./dialogs/AppDialogs.ts"
import { capsuleDialogs } from "./dialogs/CapsuleDialogs.ts"
import { connectionDialogs } from "./dialogs/ConnectionDialogs.ts"
import { pullRequestDialogs } from "./dialogs/PullRequestDialogs.ts"
import { runDialogs } from "./dialogs/RunDialogs.ts"
import { workspaceDialogs } from "./dialogs/WorkspaceDialogs.ts"
import type { OpenedDialog } from "./dialogs/DialogActions.ts"

/** Every dialog, with the steps that open it. A test fails if a component renders a dialog that is not listed here. */
export const dialogs: ReadonlyArray<OpenedDialog> = [
  ...appDialogs,
  ...runDialogs,
  ...pullRequestDialogs,
  ...capsuleDialogs,
  ...connectionDialogs,
  ...accountDialogs,
  ...workspaceDialogs
]

/**
 * Files that implement dialogs in general, the file with the phone layout's dialog, which has a separate test, and components
 * that no row above opens: dialogs for an active second factor, the result of an export (Capsules.test.ts), and the component
 * that opens the listed confirmation of an import.
 */
export const otherDialogs: ReadonlyArray<string> = [
  "app/RemovalDialog.tsx",
  "app/Shell.tsx",
  "screens/account/SecondFactor.tsx#Renew",
  "screens/account/SecondFactor.tsx#Remove",
  "screens/capsule/Export.tsx#Ready",
  "screens/capsule/ImportConfirmation.tsx#ImportConfirmation",
  "ui/ConfirmDialog.tsx",
  "ui/Dialog.tsx",
  "ui/FormDialog.tsx"
]
