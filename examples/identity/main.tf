# A real module would hand these values to what it runs: a container, a function, a virtual machine. This one passes them on as
# Outputs, and the tutorial starts the application with them.
variable "app_url" {
  type = string
}

variable "accounts_url" {
  type = string
}

variable "issuer_url" {
  type = string
}

variable "client_id" {
  type = string
}

variable "redirect_uri" {
  type = string
}

resource "terraform_data" "application" {
  input = {
    app_url      = var.app_url
    issuer_url   = var.issuer_url
    client_id    = var.client_id
    redirect_uri = var.redirect_uri
  }
}

output "app_url" {
  value = terraform_data.application.output.app_url
}

output "issuer_url" {
  value = terraform_data.application.output.issuer_url
}

output "client_id" {
  value = terraform_data.application.output.client_id
}

output "redirect_uri" {
  value = terraform_data.application.output.redirect_uri
}
