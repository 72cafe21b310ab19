// The report document: what the HTML page shows, as JSON (docs/schema/report.schema.json). It holds the JSON reports of
// runs, validations, … as they are, and what people see first: answers, things to mind, a checklist. Pure.
#pragma once

#include "infermeter/report/forms/document_history.hpp"
#include "infermeter/report/forms/document_layers.hpp"
#include "infermeter/report/forms/document_run.hpp"
#include "infermeter/report/forms/document_validation.hpp"
#include "infermeter/report/forms/render_document.hpp"
#include "infermeter/report/gate/report.hpp"
#include "infermeter/report/history/report.hpp"
#include "infermeter/report/layers/report.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/report/study/report.hpp"
#include "infermeter/report/validation/report.hpp"
#include "infermeter/report/variants/report.hpp"
