"""Says whether a file is SARIF 2.1.0: exit status 0, or 1 with what is wrong; 2 when it cannot say."""
import sys

try:
    from pydantic import ValidationError
    from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Report
except ImportError as error:
    print(f"{error}: bash harness/setup.sh --models installs it")
    sys.exit(2)

with open(sys.argv[1], "rb") as file:
    text = file.read()
try:
    Report.model_validate_json(text)
except ValidationError as error:
    print(error)
    sys.exit(1)
