"""Architectures of transformers: text, speech, and images beside text."""
import dataclasses

from _zoo import Architecture, Input, ids, pixels

# What most configurations call the extents of a small model.
SMALL = ("vocab_size=100, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,"
         " intermediate_size=96")
POSITIONS = ", max_position_embeddings=64"
DECODER = (SMALL + POSITIONS + ", num_key_value_heads=2, use_cache=False, pad_token_id=0,"
           " bos_token_id=1, eos_token_id=2")
MASK = (Input("attention_mask", "mask", (1, 16)),)
VISION = ("hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,"
          " image_size=64, patch_size=16")


def _text(name, model, options, inputs=None, config=None, **more):
    config = config or model.removesuffix("ForMaskedLM").removesuffix("ForCausalLM") \
        .removesuffix("Model").removesuffix("ForSequenceClassification") + "Config"
    return Architecture(name, "transformers", f"{model}({config}({options}))",
                        inputs or ids(), **more)


def _vision(name, model, options=VISION, extent=64, **more):
    config = model.removesuffix("ForImageClassification").removesuffix("Model") + "Config"
    return Architecture(name, "transformers", f"{model}({config}({options}))",
                        (Input("pixel_values", "pixels", (1, 3, extent, extent)),), **more)


def _audio(name, make, length=4000):
    return Architecture(name, "transformers", make,
                        (Input("input_values", "normal", (1, length)),))


SPEECH = ("vocab_size=32, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,"
          " intermediate_size=96, conv_dim=(16, 16, 16), conv_kernel=(10, 3, 2),"
          " conv_stride=(5, 2, 2), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4")
ENCODER_DECODER = ("vocab_size=100, d_model=48, encoder_layers=2, decoder_layers=2,"
                   " encoder_attention_heads=4, decoder_attention_heads=4,"
                   " encoder_ffn_dim=96, decoder_ffn_dim=96, use_cache=False, pad_token_id=0,"
                   " bos_token_id=1, eos_token_id=2, decoder_start_token_id=2")
T5 = ("vocab_size=100, d_model=48, d_kv=12, d_ff=96, num_layers=2, num_heads=4,"
      " use_cache=False, decoder_start_token_id=0")
PAIR = ids() + ids(8, name="decoder_input_ids")

# Operators of masks that coremltools does not have, nor the older exporter of ONNX.
COREML = ("*-ios*",)
NO_DIFF = ("*-ios*", "script-*")

ENCODERS = (
    _text("bert", "BertModel", SMALL + POSITIONS, ids() + MASK, without=COREML),
    _text("bert-mlm", "BertForMaskedLM", SMALL + POSITIONS),
    _text("distilbert", "DistilBertModel", "vocab_size=100, dim=48, n_layers=2, n_heads=4,"
          " hidden_dim=96, max_position_embeddings=64", ids() + MASK, without=COREML),
    _text("albert", "AlbertModel", SMALL + POSITIONS + ", embedding_size=24"),
    _text("electra", "ElectraModel", SMALL + POSITIONS + ", embedding_size=24"),
    _text("roberta", "RobertaModel", SMALL + POSITIONS, ids() + MASK, without=COREML),
    _text("xlm-roberta", "XLMRobertaForSequenceClassification", SMALL + POSITIONS),
    _text("modernbert", "ModernBertModel", SMALL + POSITIONS + ", pad_token_id=0,"
          " bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2"),
    _text("mobilebert", "MobileBertModel", SMALL + POSITIONS + ", embedding_size=24,"
          " intra_bottleneck_size=24, true_hidden_size=24"),
    _text("deberta", "DebertaModel", SMALL + POSITIONS + ", relative_attention=True,"
          " pos_att_type=['p2c', 'c2p'], type_vocab_size=0", without=("export-*",)),
    _text("deberta-v2", "DebertaV2Model", SMALL + POSITIONS + ", relative_attention=True,"
          " pos_att_type=['p2c', 'c2p'], type_vocab_size=0, position_buckets=16"),
    _text("mpnet", "MPNetModel", SMALL + POSITIONS),
    _text("squeezebert", "SqueezeBertModel", SMALL + POSITIONS + ", embedding_size=48",
          without=COREML),
    _text("convbert", "ConvBertModel", SMALL + POSITIONS + ", embedding_size=48",
          without=COREML),
    _text("fnet", "FNetModel", "vocab_size=100, hidden_size=48, num_hidden_layers=2,"
          " intermediate_size=96, max_position_embeddings=64"),
    _text("layoutlm", "LayoutLMModel", SMALL + POSITIONS),
    _text("funnel", "FunnelModel", "vocab_size=100, block_sizes=[1, 1], d_model=48, n_head=4,"
          " d_head=12, d_inner=96", without=COREML),
    _text("xlnet", "XLNetModel", "vocab_size=100, d_model=48, n_layer=2, n_head=4, d_inner=96"),
)

DECODERS = (
    _text("gpt2", "GPT2LMHeadModel", "vocab_size=100, n_positions=64, n_embd=48, n_layer=2,"
          " n_head=4, use_cache=False", config="GPT2Config", without=NO_DIFF),
    _text("gpt-neo", "GPTNeoForCausalLM", "vocab_size=100, hidden_size=48, num_layers=2,"
          " num_heads=4, max_position_embeddings=64, attention_types=[[['global', 'local'], 1]],"
          " window_size=8, use_cache=False", without=NO_DIFF),
    _text("gpt-neox", "GPTNeoXForCausalLM", SMALL + POSITIONS + ", use_cache=False",
          without=NO_DIFF),
    _text("opt", "OPTForCausalLM", "vocab_size=100, hidden_size=48, num_hidden_layers=2,"
          " ffn_dim=96, num_attention_heads=4, max_position_embeddings=64,"
          " word_embed_proj_dim=48, use_cache=False"),
    _text("bloom", "BloomForCausalLM", "vocab_size=100, hidden_size=48, n_layer=2, n_head=4,"
          " use_cache=False", without=COREML),
    _text("llama", "LlamaForCausalLM", DECODER, without=NO_DIFF),
    _text("mistral", "MistralForCausalLM", DECODER + ", sliding_window=8", without=NO_DIFF),
    _text("qwen2", "Qwen2ForCausalLM", DECODER, without=NO_DIFF),
    _text("qwen3", "Qwen3ForCausalLM", DECODER + ", head_dim=12", without=NO_DIFF),
    _text("gemma", "GemmaForCausalLM", DECODER + ", head_dim=12", without=NO_DIFF),
    _text("gemma2", "Gemma2ForCausalLM", DECODER + ", head_dim=12, sliding_window=8",
          without=NO_DIFF),
    _text("gemma3", "Gemma3ForCausalLM", DECODER + ", head_dim=12, sliding_window=8",
          config="Gemma3TextConfig", without=NO_DIFF),
    _text("phi", "PhiForCausalLM", DECODER, without=NO_DIFF),
    _text("phi3", "Phi3ForCausalLM", DECODER, without=NO_DIFF),
    _text("falcon", "FalconForCausalLM", "vocab_size=100, hidden_size=48, num_hidden_layers=2,"
          " num_attention_heads=4, use_cache=False", without=NO_DIFF),
    _text("stablelm", "StableLmForCausalLM", DECODER + ", partial_rotary_factor=0.5",
          without=NO_DIFF),
    _text("starcoder2", "Starcoder2ForCausalLM", DECODER, without=NO_DIFF),
    _text("cohere", "CohereForCausalLM", DECODER, without=NO_DIFF),
    _text("olmo2", "Olmo2ForCausalLM", DECODER, without=NO_DIFF),
    _text("granite", "GraniteForCausalLM", DECODER, without=NO_DIFF),
    _text("smollm3", "SmolLM3ForCausalLM", DECODER, without=NO_DIFF),
    _text("mamba", "MambaForCausalLM", "vocab_size=100, hidden_size=48, num_hidden_layers=2,"
          " state_size=8, use_cache=False", ids(8)),
    _text("mixtral", "MixtralForCausalLM", DECODER + ", num_local_experts=4", without=NO_DIFF),
)

PAIRS = (
    _text("t5-encoder", "T5EncoderModel", T5, config="T5Config"),
    _text("t5", "T5Model", T5, PAIR),
    _text("bart", "BartModel", ENCODER_DECODER + POSITIONS, PAIR),
    _text("marian", "MarianModel", ENCODER_DECODER + POSITIONS, PAIR),
    _text("pegasus", "PegasusModel", ENCODER_DECODER + POSITIONS, PAIR),
)

VISIONS = (
    _vision("vit", "ViTModel"),
    _vision("deit", "DeiTModel"),
    _vision("dinov2", "Dinov2Model"),
    _vision("swin", "SwinModel", "image_size=64, patch_size=4, embed_dim=24, depths=[2, 2],"
            " num_heads=[2, 4], window_size=4"),
    _vision("convnext", "ConvNextModel", "num_stages=2, hidden_sizes=[16, 32], depths=[1, 2]"),
    _vision("segformer", "SegformerModel", "hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],"
            " num_attention_heads=[1, 2, 3, 4]"),
    _vision("yolos", "YolosModel", VISION.replace("image_size=64", "image_size=[64, 64]")
            + ", num_detection_tokens=8"),
    _vision("siglip-vision", "SiglipVisionModel"),
    _vision("clip-vision", "CLIPVisionModel"),
    Architecture("clip", "transformers", "CLIPModel(CLIPConfig(text_config=dict(" + SMALL
                 + POSITIONS + ", eos_token_id=2, projection_dim=32), vision_config=dict("
                 + VISION + ", projection_dim=32), projection_dim=32))",
                 ids() + (Input("pixel_values", "pixels", (1, 3, 64, 64)),)),
    _vision("dpt", "DPTModel", VISION + ", is_hybrid=False, neck_hidden_sizes=[16, 16, 16, 16],"
            " fusion_hidden_size=16, backbone_out_indices=[0, 0, 1, 1]"),
    _vision("swin2sr", "Swin2SRModel", "image_size=32, embed_dim=24, depths=[2, 2],"
            " num_heads=[2, 2], window_size=4, upscale=2", 32),
    Architecture("videomae", "transformers", "VideoMAEModel(VideoMAEConfig(" + VISION.replace(
        "image_size=64", "image_size=32") + ", num_frames=2))",
                 (Input("pixel_values", "normal", (1, 2, 3, 32, 32)),)),
)

AUDIO = (
    Architecture("whisper", "transformers", "WhisperModel(WhisperConfig(" + ENCODER_DECODER
                 + ", num_mel_bins=20, max_source_positions=16, max_target_positions=16))",
                 (Input("input_features", "normal", (1, 20, 32)),)
                 + ids(8, name="decoder_input_ids")),
    _audio("wav2vec2", f"Wav2Vec2ForCTC(Wav2Vec2Config({SPEECH}))"),
    _audio("hubert", f"HubertModel(HubertConfig({SPEECH}))"),
    _audio("wavlm", f"WavLMModel(WavLMConfig({SPEECH}))"),
    _audio("data2vec-audio", f"Data2VecAudioModel(Data2VecAudioConfig({SPEECH}))"),
    Architecture("ast", "transformers", "ASTModel(ASTConfig(hidden_size=48,"
                 " num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,"
                 " max_length=64, num_mel_bins=32))",
                 (Input("input_values", "normal", (1, 64, 32)),)),
    Architecture("patchtst", "transformers", "PatchTSTModel(PatchTSTConfig("
                 "num_input_channels=2, context_length=32, patch_length=8, patch_stride=8,"
                 " d_model=16, num_attention_heads=2, num_hidden_layers=2, ffn_dim=32))",
                 (Input("past_values", "normal", (1, 32, 2)),)),
)

# With the mask that is added to the scores as an input, which spares the model from
# making one: so others bring language models to Core ML.
SCORES = ids() + (Input("attention_mask", "normal", (1, 1, 16, 16)),)


def _masked(*names):
    rows = {row.name: row for row in ENCODERS + DECODERS}
    return tuple(dataclasses.replace(rows[name], name=f"{name}-masked", inputs=SCORES,
                                     without=()) for name in names)


MASKED = _masked("bert", "roberta", "gpt2", "gpt-neox", "llama", "mistral", "qwen3", "gemma3",
                 "phi3")
ROWS = ENCODERS + DECODERS + PAIRS + VISIONS + AUDIO + MASKED
