import { define } from "./SettingDefinition.ts"

/** The mail server, if there is one. */
export const mailServerSettings = define({
  smtpUrl: {
    env: "SVC_SMTP_URL",
    flag: "smtp-url",
    metavar: "url",
    description: "Mail server: smtps://host:465, or smtp://host:587 with STARTTLS; no mail is sent when absent"
  },
  smtpFrom: {
    env: "SVC_SMTP_FROM",
    flag: "smtp-from",
    metavar: "address",
    description: "Address that mails come from"
  },
  smtpUser: {
    env: "SVC_SMTP_USER",
    flag: "smtp-user",
    metavar: "name",
    description: "User at the mail server; without one nobody signs in there"
  },
  smtpPassword: {
    env: "SVC_SMTP_PASSWORD",
    metavar: "secret",
    description: "Password at the mail server. Environment or file only, never a flag"
  },
  smtpPasswordFile: {
    env: "SVC_SMTP_PASSWORD_FILE",
    flag: "smtp-password-file",
    metavar: "file",
    description: "File with that password instead"
  },
  smtpCaFile: {
    env: "SVC_SMTP_CA_FILE",
    flag: "smtp-ca-file",
    metavar: "file",
    description: "Certificates in PEM that vouch for the mail server instead of the usual authorities"
  },
  mailLanguage: {
    env: "SVC_MAIL_LANGUAGE",
    flag: "mail-language",
    metavar: "en|ja",
    default: "en",
    description: "Language of mails"
  }
})
