import { accountWords } from "../../../../src/dashboard/screens/account/Words.ts"
import { factorWords } from "../../../../src/dashboard/screens/account/FactorWords.ts"
import { profileWords } from "../../../../src/dashboard/screens/account/ProfileWords.ts"
import { signInWords } from "../../../../src/dashboard/screens/account/SignInWords.ts"
import { button, inPanel, account, remove, type OpenedDialog } from "./DialogActions.ts"

/** Account dialogs. */
export const accountDialogs: ReadonlyArray<OpenedDialog> = [
  {
    source: "screens/account/Passkeys.tsx#Add",
    ...account,
    open: inPanel(
      (to) => accountWords[to].passkeys,
      (to) => accountWords[to].addPasskey
    )
  },
  { source: "screens/account/Passkeys.tsx#Row", ...account, open: inPanel((to) => accountWords[to].passkeys, remove) },
  { source: "screens/account/Tokens.tsx#NewToken", ...account, open: button((to) => accountWords[to].newToken) },
  { source: "screens/account/Tokens.tsx#Row", ...account, open: button((to) => accountWords[to].revoke) },
  { source: "screens/account/SecondFactor.tsx#SetUp", ...account, open: button((to) => factorWords[to].setUp) },
  { source: "screens/account/Profile.tsx#Rename", ...account, open: button((to) => profileWords[to].changeName) },
  {
    source: "screens/account/Profile.tsx#ChangeAddress",
    ...account,
    open: button((to) => profileWords[to].changeAddress)
  },
  { source: "screens/account/Sessions.tsx#Others", ...account, open: button((to) => profileWords[to].others) },
  {
    source: "screens/account/AccountScreen.tsx#PasswordDialog",
    ...account,
    open: button((to) => accountWords[to].changePassword)
  },
  { source: "screens/account/Sessions.tsx#Everywhere", ...account, open: button((to) => signInWords[to].everywhere) },
  { source: "screens/account/AccountScreen.tsx#GrantRow", ...account, open: button((to) => signInWords[to].withdraw) },
  { source: "screens/account/AccountScreen.tsx#IdentityRow", ...account, open: button((to) => signInWords[to].unlink) }
]
