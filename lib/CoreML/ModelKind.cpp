//===- ModelKind.cpp - types of Core ML models ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelKind.h"
#include "Messages.h"

using namespace anec::coreml;

static constexpr llvm::StringLiteral oldNetwork(
    "the form that networks had before ML programs; convert the original model "
    "with coremltools again, by `ct.convert(model, "
    "convert_to=\"mlprogram\")`, or give anec its ONNX file");
static constexpr llvm::StringLiteral onTheCpu(
    "which Core ML computes on the CPU: there is nothing of it for the engine, "
    "and no MIL program");
static constexpr llvm::StringLiteral ofTheSystem(
    "whose computation is not in the file; only Core ML on a Mac has it");

static constexpr ModelKind modelKindTable[] = {
    {200, "pipelineClassifier"},
    {201, "pipelineRegressor"},
    {202, "pipeline"},
    {300, "glmRegressor", onTheCpu},
    {301, "supportVectorRegressor", onTheCpu},
    {302, "treeEnsembleRegressor", onTheCpu},
    {303, "neuralNetworkRegressor", oldNetwork},
    {304, "bayesianProbitRegressor", onTheCpu},
    {400, "glmClassifier", onTheCpu},
    {401, "supportVectorClassifier", onTheCpu},
    {402, "treeEnsembleClassifier", onTheCpu},
    {403, "neuralNetworkClassifier", oldNetwork},
    {404, "kNearestNeighborsClassifier", onTheCpu},
    {500, "neuralNetwork", oldNetwork},
    {501, "itemSimilarityRecommender", onTheCpu},
    {502, "mlProgram"},
    {555, "customModel", ofTheSystem},
    {556, "linkedModel", ofTheSystem},
    {560, "classConfidenceThresholding", onTheCpu},
    {600, "oneHotEncoder", onTheCpu},
    {601, "imputer", onTheCpu},
    {602, "featureVectorizer", onTheCpu},
    {603, "dictVectorizer", onTheCpu},
    {604, "scaler", onTheCpu},
    {606, "categoricalMapping", onTheCpu},
    {607, "normalizer", onTheCpu},
    {609, "arrayFeatureExtractor", onTheCpu},
    {610, "nonMaximumSuppression", onTheCpu},
    {900, "identity", onTheCpu},
    {2000, "textClassifier", ofTheSystem},
    {2001, "wordTagger", ofTheSystem},
    {2002, "visionFeaturePrint", ofTheSystem},
    {2003, "soundAnalysisPreprocessing", ofTheSystem},
    {2004, "gazetteer", ofTheSystem},
    {2005, "wordEmbedding", ofTheSystem},
    {2006, "audioFeaturePrint", ofTheSystem},
    {3000, "serializedModel", ofTheSystem},
};

const ModelKind *anec::coreml::findModelKind(int field) {
  for (const ModelKind &row : modelKindTable)
    if (row.field == field)
      return &row;
  return nullptr;
}

bool ModelKind::isProgram() const { return field == proto::model::MLProgram; }

bool ModelKind::isPipeline() const {
  return field >= proto::model::PipelineClassifier &&
         field <= proto::model::Pipeline;
}

bool ModelKind::isSuppression() const {
  return field == proto::model::NonMaximumSuppression;
}
