#!/bin/sh
# After a deployment: says whether the API keeps what it is told and finds it again.
#   infra/smoke/smoke.sh API_URL TOKEN
#   infra/smoke/smoke.sh --stack STACK
exec "${PYTHON:-python3}" "$(dirname "$0")/smoke.py" "$@"
