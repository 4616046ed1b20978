#include "harness/report/triage_examine.h"
#include "harness/report/triage_values.h"

#include <exception>

namespace assay {

namespace {

using Json = OrderedJson;

Json finding_object(const ExaminedFinding& finding) {
  const Signature& signature = finding.signature;
  return {{"pass", std::string(name_of(signature.pass))},
          {"output", signature.output},
          {"kind", std::string(name_of(signature.kind))},
          {"place", {signature.place.file, signature.place.line, signature.place.column}},
          {"message", finding.message},
          {"severity", json_number(finding.severity)}};
}

std::optional<ExaminedFinding> parse_finding_object(const Json& json, const std::string& kernel) {
  const auto pass = parse_pass(json.at("pass").get<std::string>());
  const auto kind = parse_kind(json.at("kind").get<std::string>());
  if (!pass || !kind) return std::nullopt;
  const Json& place = json.at("place");
  return ExaminedFinding{{kernel,
                          *pass,
                          json.at("output").get<std::string>(),
                          *kind,
                          {place.at(0).get<std::string>(), place.at(1).get<int>(), place.at(2).get<int>()}},
                         json.at("message").get<std::string>(),
                         parse_number(json.at("severity"))};
}

Examined parse(const Json& json) {
  Examined examined;
  json.at("kernel").get_to(examined.kernel);
  json.at("op").get_to(examined.op);
  if (json.contains("finding")) examined.finding = parse_finding_object(json.at("finding"), examined.kernel);
  json.at("seen_with").get_to(examined.seen_with);
  json.at("elements").get_to(examined.elements);
  json.at("note").get_to(examined.note);
  examined.tensors = parse_tensors(json.at("tensors"));
  examined.suspects = parse_causes(json.at("suspects"));
  examined.cleared = parse_causes(json.at("cleared"));
  if (json.contains("map")) examined.map = parse_map(json.at("map"));
  examined.histogram = parse_histogram(json.at("histogram"));
  examined.samples = parse_samples(json.at("samples"));
  return examined;
}

} // namespace

std::string examined_json(const Examined& examined) {
  Json json = {{"kernel", examined.kernel},
               {"op", examined.op},
               {"seen_with", examined.seen_with},
               {"elements", examined.elements},
               {"note", examined.note},
               {"tensors", tensors_json(examined.tensors)},
               {"suspects", causes_json(examined.suspects)},
               {"cleared", causes_json(examined.cleared)},
               {"histogram", histogram_json(examined.histogram)},
               {"samples", samples_json(examined.samples)}};
  if (examined.finding) json["finding"] = finding_object(*examined.finding);
  if (examined.map) json["map"] = map_json(*examined.map);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Examined> parse_examined(const std::string& text) {
  try {
    return parse(Json::parse(text));
  } catch (const std::exception&) { // nlohmann's, of a file that is damaged or somebody else's
    return std::nullopt;
  }
}

} // namespace assay
